import { randomBytes } from 'node:crypto'
import { mkdir, open, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Writes a new file and waits until the disk has it. Refuses an existing one (EEXIST). */
export async function writeDurable(path: string, content: Uint8Array | string, mode = 0o644): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A file is there after power loss only when its folder is flushed too. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Renames and flushes the folder that received the name. */
export async function renameDurable(from: string, to: string): Promise<void> {
  await rename(from, to)
  await syncFolder(dirname(to))
}

/** Makes the folder and those above it; the parents of new ones are flushed. */
export async function makeFolders(path: string, mode = 0o777): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode })
  if (first === undefined) return
  for (let made = path; made !== dirname(first); made = dirname(made)) await syncFolder(dirname(made))
}

/**
 * Replaces a small file in one step. The new content waits under a name of its own, so that what a killed process left there stands
 * in nobody's way; it ends like a lock of git and is cleaned up like one. Who may write at the same time is for the caller to settle.
 */
export async function replaceDurable(path: string, content: string): Promise<void> {
  const aside = join(dirname(path), `${basename(path)}-${randomBytes(6).toString('hex')}.lock`)
  await writeDurable(aside, content)
  await renameDurable(aside, path)
}
