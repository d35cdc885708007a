import { GitError } from '../../errors.ts'
import type { Call, EntryKind, Tree, TreeEntry } from '../../model.ts'
import { hashObject, parseTree, type TreeItem } from '../../objects.ts'
import { startGit } from '../process/process.ts'
import { resolveObject } from '../refs/revisions.ts'
import { objectFormatOf, requireFolder, type Store } from '../store.ts'
import type { Answer } from './batch.ts'

/** A folder with 10^6 names is 40 MB; beyond this it is refused instead of held. */
export const MAX_TREE_BYTES = 32 * 1024 * 1024
const MAX_ENTRIES = 100_000

export interface TreeQuery {
  revision: string
  path?: string
  isRecursive?: boolean
  withSizes?: boolean
  limit?: number
}

export async function readTree(store: Store, id: number, query: TreeQuery, call?: Call): Promise<Tree> {
  const limit = Math.min(query.limit ?? MAX_ENTRIES, MAX_ENTRIES)
  const path = query.path ?? ''
  const folder = await findEntry(store, id, query.revision, path, call)
  if (folder?.kind !== 'folder') throw new GitError('not-found', 'path', 'no such folder', { subject: path })
  if (query.isRecursive) return readDeep(store, id, { ...query, sha: folder.sha, path, limit }, call)
  const items = await readItems(store, id, folder.sha, call)
  const entries = items.slice(0, limit).map((item) => entryOf(item, path))
  if (query.withSizes) await addSizes(store, id, entries, call)
  return { sha: folder.sha, entries, isTruncated: items.length > limit }
}

/** Git knows the empty tree in every repository, whether or not it is stored. */
export async function emptyTreeOf(store: Store, id: number): Promise<string> {
  return hashObject(await objectFormatOf(store, id), 'tree', new Uint8Array())
}

/** The lines of one tree object. */
export async function readItems(store: Store, id: number, sha: string, call?: Call): Promise<TreeItem[]> {
  const [answer] = await store.readers.ask(id, [{ verb: 'contents', name: sha, maxBytes: MAX_TREE_BYTES }], call)
  if (answer?.kind === 'too-large') throw new GitError('too-large', 'limit', 'the folder has too many entries')
  if (answer?.kind !== 'object' || !answer.content) throw new GitError('not-found', 'object', 'no such tree')
  if (answer.type !== 'tree') throw new GitError('invalid', 'object-type', `a ${answer.type} is no tree`)
  return parseTree(answer.content, answer.sha.length / 2)
}

/** 2,000 sizes take 3 ms in the `cat-file` process that stays, as `ls-tree -l` does, but start no other one. */
async function addSizes(store: Store, id: number, entries: TreeEntry[], call?: Call): Promise<void> {
  const blobs = entries.filter((entry) => entry.kind !== 'folder' && entry.kind !== 'submodule')
  const answers = await store.readers.ask(
    id,
    blobs.map(({ sha }) => ({ verb: 'info' as const, name: sha })),
    call,
  )
  for (const [index, entry] of blobs.entries()) {
    const answer: Answer | undefined = answers[index]
    if (answer?.kind === 'object') entry.size = answer.size
  }
}

export async function findEntry(
  store: Store,
  id: number,
  revision: string,
  path: string,
  call?: Call,
): Promise<TreeEntry | undefined> {
  const root = await resolveObject(store, id, revision, call)
  const tree = root.type === 'tree' ? root : await resolveObject(store, id, `${root.sha}^{tree}`, call)
  if (path === '') return { path: '', name: '', kind: 'folder', mode: '040000', sha: tree.sha }
  const names = path.split('/')
  const last = names.pop() ?? ''
  const parent = await findFolder(store, id, { sha: tree.sha, names }, call)
  if (parent === undefined) return undefined
  const rawName = Buffer.from(last).toString('latin1')
  const item = (await readItems(store, id, parent, call)).find((line) => line.rawName === rawName)
  return item && entryOf(item, names.join('/'))
}

/** One question for any depth. A name with a newline cannot be asked so, and is looked for step by step. */
async function findFolder(
  store: Store,
  id: number,
  from: { sha: string; names: string[] },
  call?: Call,
): Promise<string | undefined> {
  if (from.names.length === 0) return from.sha
  if (from.names.some((name) => name === '' || name === '.' || name === '..')) return undefined
  const path = from.names.join('/')
  if (/[\n\0]/.test(path)) return stepDown(store, id, from, call)
  const [answer] = await store.readers.ask(id, [{ verb: 'info', name: `${from.sha}:${path}` }], call)
  return answer?.kind === 'object' && answer.type === 'tree' ? answer.sha : undefined
}

async function stepDown(store: Store, id: number, from: { sha: string; names: string[] }, call?: Call) {
  let { sha } = from
  for (const name of from.names) {
    const rawName = Buffer.from(name).toString('latin1')
    const item = (await readItems(store, id, sha, call)).find((line) => line.rawName === rawName)
    if (item?.mode !== '040000') return undefined
    sha = item.sha
  }
  return sha
}

const KINDS = new Map<string, EntryKind>([
  ['040000', 'folder'],
  ['100755', 'executable'],
  ['120000', 'symlink'],
  ['160000', 'submodule'],
])

export const kindOf = (mode: string): EntryKind => KINDS.get(mode) ?? 'file'

function entryOf({ mode, rawName, sha }: TreeItem, folder: string): TreeEntry {
  const name = Buffer.from(rawName, 'latin1').toString()
  return { path: folder === '' ? name : `${folder}/${name}`, name, kind: kindOf(mode), mode, sha }
}

type DeepQuery = TreeQuery & { sha: string; path: string; limit: number }

/** All levels at once; git is ended as soon as there are enough. */
async function readDeep(store: Store, id: number, query: DeepQuery, call?: Call): Promise<Tree> {
  const args = ['ls-tree', '-r', '-t', '-z', '--full-tree', ...(query.withSizes ? ['-l'] : []), query.sha]
  const child = await startGit(store.runner, { args, folder: await requireFolder(store.runner.root, id), call })
  const entries: TreeEntry[] = []
  let rest = ''
  for await (const chunk of child.stdout) {
    const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\0')
    rest = lines.pop() ?? ''
    for (const line of lines) entries.push(parseLine(line, query.path))
    if (entries.length > query.limit) child.stop(new GitError('too-large', 'limit', 'enough entries'))
    if (entries.length > query.limit) break
  }
  const exit = await child.exited
  const isTruncated = entries.length > query.limit
  if (exit.stopped && !isTruncated) throw exit.stopped
  if (!isTruncated && exit.exitCode !== 0) {
    throw new GitError('failed', 'program', 'git ls-tree failed', { stderr: exit.stderr })
  }
  return { sha: query.sha, entries: entries.slice(0, query.limit), isTruncated }
}

function parseLine(line: string, folder: string): TreeEntry {
  const tab = line.indexOf('\t')
  const [mode = '', , sha = '', size = ''] = line.slice(0, tab).split(/ +/)
  const rawPath = line.slice(tab + 1)
  const slash = rawPath.lastIndexOf('/')
  const inner = Buffer.from(rawPath.slice(0, Math.max(slash, 0)), 'latin1').toString()
  const parent = [folder, inner].filter(Boolean).join('/')
  const entry = entryOf({ mode, rawName: rawPath.slice(slash + 1), sha }, parent)
  return /^\d+$/.test(size) ? { ...entry, size: Number(size) } : entry
}
