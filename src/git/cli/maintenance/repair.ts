import { lstat, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolders, replaceDurable, syncFolder } from '../../../kernel/durable.ts'
import { noneIfMissing } from '../../../kernel/missing.ts'
import { GitError } from '../../errors.ts'
import type { Call, ObjectFormat, UnadoptedFolder } from '../../model.ts'
import { isObjectId, isValidRefName } from '../../names.ts'
import type { BrokenRef, FolderState } from '../../repair.ts'
import { runGit } from '../process/process.ts'
import { configOf, SKELETON } from '../repositories/repositories.ts'
import { folderOf, requireFolder, type Store } from '../store.ts'
import { walk } from './maintenance.ts'

export async function folderState(store: Store, id: number): Promise<FolderState> {
  const folder = folderOf(store.runner.root, id)
  const entry = await lstat(folder).catch(noneIfMissing)
  if (!entry) return 'missing'
  if (!entry.isDirectory()) return 'no-folder'
  return (await missingParts(folder)).length === 0 ? 'whole' : 'incomplete'
}

const HEAD = /^ref: *refs\/|^[0-9a-f]{40}/

/** Names of what must be there and is not, or is of another sort. */
async function missingParts(folder: string): Promise<string[]> {
  const parts = ['HEAD', 'config', 'objects', 'refs']
  const entries = await Promise.all(parts.map((part) => lstat(join(folder, part)).catch(noneIfMissing)))
  const missing = parts.filter((part, index) => {
    const entry = entries[index]
    return part === 'objects' || part === 'refs' ? entry?.isDirectory() !== true : entry?.isFile() !== true
  })
  for (const [name, form] of [['HEAD', HEAD] as const, ['config', /\S/] as const]) {
    if (!missing.includes(name) && !form.test(await readFile(join(folder, name), 'utf8'))) missing.push(name)
  }
  return missing
}

export async function restoreFolder(
  store: Store,
  id: number,
  { objectFormat, defaultBranch }: { objectFormat: ObjectFormat; defaultBranch: string },
): Promise<void> {
  const folder = folderOf(store.runner.root, id)
  for (const part of SKELETON) await makeFolders(join(folder, part))
  const missing = await missingParts(folder)
  // HEAD last: with it the folder becomes a repository.
  if (missing.includes('config')) await replaceDurable(join(folder, 'config'), configOf(objectFormat))
  if (missing.includes('HEAD')) await replaceDurable(join(folder, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`)
  store.formats.forget(id)
  store.readers.drop(id)
}

export async function listEmptyObjects(store: Store, id: number): Promise<string[]> {
  const folder = await requireFolder(store.runner.root, id)
  const found: string[] = []
  for await (const { path, bytes } of walk(join(folder, 'objects'))) {
    if (bytes === 0 && OBJECT.test(path)) found.push(path.slice(folder.length + 1))
  }
  return found
}

const OBJECT = /\/objects\/(?:[0-9a-f]{2}\/[0-9a-f]+|pack\/pack-[^/]+\.(?:pack|idx|rev|bitmap))$/

/** Made again by maintenance; one that lists objects that are not there makes git see damage everywhere. */
const DERIVED = ['objects/info/commit-graph', 'objects/info/commit-graphs', 'objects/pack/multi-pack-index']

export async function repairObjects(store: Store, id: number, call?: Call): Promise<number> {
  const folder = await requireFolder(store.runner.root, id)
  const empty = await listEmptyObjects(store, id)
  // Power was lost before the content was written: nothing of it can be saved, and a new one cannot take its place.
  for (const path of empty) await rm(join(folder, path), { force: true })
  let changed = empty.length
  for (const path of DERIVED) {
    if (await lstat(join(folder, path)).catch(noneIfMissing)) changed += 1
    await rm(join(folder, path), { recursive: true, force: true })
  }
  const names = await readdir(join(folder, 'objects/pack'))
  for (const name of names) {
    if (!/^pack-[0-9a-f]+\.pack$/.test(name) || names.includes(name.replace(/pack$/, 'idx'))) continue
    const args = ['index-pack', join(folder, 'objects/pack', name)]
    const { exitCode } = await runGit(store.runner, { args, folder, call, accepts: [0, 1, 128], isTransfer: true })
    if (exitCode === 0) changed += 1
  }
  store.readers.drop(id)
  return changed
}

export async function listBrokenRefs(store: Store, id: number, call?: Call): Promise<BrokenRef[]> {
  const folder = await requireFolder(store.runner.root, id)
  const broken: BrokenRef[] = (await unreadableRefs(folder)).map((name) => ({ name, sha: undefined }))
  const args = ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags']
  const { stdout } = await runGit(store.runner, { args, folder, call })
  const refs = stdout.toString().split('\n').slice(0, -1)
  const wholeness = new Map<string, boolean>()
  for (const line of refs) {
    const [name = '', sha = ''] = line.split(' ')
    const isKnown = wholeness.get(sha) ?? (await isWhole(store, id, sha, call))
    wholeness.set(sha, isKnown)
    if (!isKnown && !broken.some((one) => one.name === name)) broken.push({ name, sha })
  }
  return broken
}

/** Files of branches and tags that hold nothing like an id: git passes over them with a warning. */
async function unreadableRefs(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const part of ['refs/heads', 'refs/tags']) {
    for await (const { path } of walk(join(folder, part))) {
      const name = path.slice(folder.length + 1)
      if (!isValidRefName(name)) continue
      const value = (await readFile(path, 'latin1').catch(noneIfMissing))?.trim()
      if (value === undefined || value.startsWith('ref: ') || (isObjectId(value) && !/^0+$/.test(value))) continue
      found.push(name)
    }
  }
  return found
}

export async function isWhole(store: Store, id: number, sha: string, call?: Call): Promise<boolean> {
  if (!isObjectId(sha)) return false
  const folder = await requireFolder(store.runner.root, id)
  const { exitCode } = await runGit(store.runner, {
    args: ['rev-list', '--objects', '--quiet', sha],
    folder,
    call,
    // It names commits whose objects may be gone.
    settings: [['core.commitGraph', 'false']],
    accepts: Array.from({ length: 129 }, (_, code) => code),
    isTransfer: true,
    memory: 'any',
  })
  return exitCode === 0
}

export async function replaceRef(store: Store, id: number, name: string, sha: string | undefined): Promise<void> {
  if (!isValidRefName(name)) throw new GitError('invalid', 'ref-name', 'not a ref name', { subject: name })
  const folder = await requireFolder(store.runner.root, id)
  // Git does not replace what it cannot read.
  if ((await unreadableRefs(folder)).includes(name)) await rm(join(folder, name), { force: true })
  const args = sha === undefined ? ['update-ref', '-d', name] : ['update-ref', name, sha]
  await runGit(store.runner, { args, folder })
}

export async function setAside(store: Store, id: number, { owner, name }: UnadoptedFolder): Promise<void> {
  const { root } = store.runner
  const [from, to] = [folderOf(root, id), join(root, owner, `${name}.git`)]
  if (await lstat(to).catch(noneIfMissing))
    throw new GitError('conflict', 'repository-exists', 'a folder of that name is there', { subject: to })
  await makeFolders(dirname(to))
  await rename(from, to)
  await Promise.all([syncFolder(dirname(to)), syncFolder(dirname(from))])
  store.readers.drop(id)
}
