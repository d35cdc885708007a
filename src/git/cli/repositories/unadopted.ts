import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder, writeDurable } from '../../../kernel/durable.ts'
import { emptyIfMissing, noneIfMissing } from '../../../kernel/missing.ts'
import { GitError, isGitError } from '../../errors.ts'
import type { UnadoptedFolder } from '../../model.ts'
import { isValidRefName } from '../../names.ts'
import { checkRepository } from '../maintenance/integrity.ts'
import { readObjectFormat, type Store } from '../store.ts'
import { buildInPlace, writeSkeleton } from './repositories.ts'

/** Names as the program gives them; a first `@` would be one of our own folders, a dot a way out. */
const isSafeName = (name: string) => /^[A-Za-z0-9_.-]{1,100}$/.test(name) && !/^\.+$/.test(name)

/** `withFileTypes` shows which are links, so links are never followed. */
async function foldersOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(emptyIfMissing)
  return entries
    .filter((entry) => entry.isDirectory() && isSafeName(entry.name))
    .map((entry) => entry.name)
    .sort()
}

/** The names of one owner at a time are held, since the order of a folder is none: 350 bytes for each while it is read. */
export async function* listUnadopted(store: Store): AsyncIterable<UnadoptedFolder> {
  const { root } = store.runner
  for (const owner of await foldersOf(root)) {
    const names = (await foldersOf(join(root, owner))).flatMap((folder) => /^(.+)\.git$/.exec(folder)?.[1] ?? [])
    for (const name of names.sort()) yield { owner, name }
  }
}

export async function isUnadopted(store: Store, folder: UnadoptedFolder): Promise<boolean> {
  return requireUnadopted(store, folder).then(
    () => true,
    (error) => {
      if (isGitError(error, 'not-found')) return false
      throw error
    },
  )
}

/** The path of an unadopted folder. Throws `not-found` `repository` for anything but a real folder below the root. */
async function requireUnadopted(store: Store, { owner, name }: UnadoptedFolder): Promise<string> {
  const missing = new GitError('not-found', 'repository', 'no such folder', { subject: `${owner}/${name}` })
  if (!isSafeName(owner) || !isSafeName(name)) throw missing
  const ownerFolder = join(store.runner.root, owner)
  const folder = join(ownerFolder, `${name}.git`)
  for (const path of [ownerFolder, folder]) {
    // Fails also for a name that is too long for a folder.
    if (!(await lstat(path).catch(() => undefined))?.isDirectory()) throw missing
  }
  return folder
}

export async function removeUnadopted(store: Store, folder: UnadoptedFolder): Promise<void> {
  await rm(await requireUnadopted(store, folder), { recursive: true, force: true })
}

/** Loose objects, packs with their indexes, refs. Never hooks, config, alternates, grafts or replace refs. */
const IMPORTED = [
  /^objects\/[0-9a-f]{2}\/[0-9a-f]{38,62}$/,
  /^objects\/pack\/pack-[0-9a-f]{40,64}\.(?:pack|idx)$/,
  /^packed-refs$/,
]

export async function importRepository(store: Store, id: number, source: UnadoptedFolder): Promise<void> {
  const from = await requireUnadopted(store, source)
  const isReadable = (await lstat(join(from, 'config')).catch(noneIfMissing))?.isFile()
  if (!isReadable) throw new GitError('invalid', 'content', 'the folder is no bare repository')
  const head = await readHead(from)
  const objectFormat = await readObjectFormat(from)
  await buildInPlace(store, id, async (folder) => {
    await writeSkeleton(folder, { objectFormat, head })
    for (const part of ['objects', 'refs', 'packed-refs']) await copyTree(from, folder, part)
    const { isSound, problems } = await checkRepository(store.runner, folder, { isFull: true })
    if (!isSound) throw new GitError('invalid', 'content', 'the repository is damaged', { stderr: problems.join('\n') })
  })
}

async function readHead(from: string): Promise<string> {
  const file = await lstat(join(from, 'HEAD')).catch(noneIfMissing)
  if (!file?.isFile()) throw new GitError('invalid', 'content', 'the folder has no HEAD')
  const ref = /^ref: *(\S+)/.exec(await readFile(join(from, 'HEAD'), 'utf8'))?.[1]
  return ref?.startsWith('refs/heads/') && isValidRefName(ref) ? ref : 'refs/heads/main'
}

async function copyTree(from: string, to: string, path: string): Promise<void> {
  const source = await lstat(join(from, path)).catch(noneIfMissing)
  if (!source) return
  if (source.isSymbolicLink()) throw new GitError('invalid', 'content', 'the folder holds a link', { subject: path })
  if (source.isDirectory()) {
    await mkdir(join(to, path), { recursive: true })
    for (const name of await readdir(join(from, path))) await copyTree(from, to, `${path}/${name}`)
    await syncFolder(join(to, path))
  } else if (source.isFile()) await copyOne(from, to, path)
}

async function copyOne(from: string, to: string, path: string): Promise<void> {
  if (path.startsWith('refs/')) {
    if (!isValidRefName(path) || path.startsWith('refs/replace/')) return
    const value = (await readFile(join(from, path), 'latin1')).trim()
    if (/^[0-9a-f]{40,64}$/.test(value)) await writeDurable(join(to, path), `${value}\n`)
    return
  }
  if (!IMPORTED.some((pattern) => pattern.test(path))) return
  await mkdir(dirname(join(to, path)), { recursive: true })
  await copyFile(join(from, path), join(to, path), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  const file = await open(join(to, path), 'r')
  await file.sync().finally(() => file.close())
}
