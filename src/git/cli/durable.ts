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
export async function makeFolders(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return
  for (let made = path; made !== dirname(first); made = dirname(made)) await syncFolder(dirname(made))
}

/** git's own protocol for a small file: whoever makes `<name>.lock` may replace it. Throws EEXIST while another does. */
export async function replaceLocked(path: string, content: string): Promise<void> {
  const lock = join(dirname(path), `${basename(path)}.lock`)
  await writeDurable(lock, content)
  await renameDurable(lock, path)
}

/** The `code` of a file system error. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
