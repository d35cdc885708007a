import { GitError } from '../../errors.ts'
import type { Call } from '../../model.ts'
import { parseTree, type TreeItem } from '../../objects.ts'
import type { Store } from '../store.ts'
import type { Answer } from './batch.ts'
import { MAX_TREE_BYTES } from './trees.ts'

/** Paths of one archive, or between two trees. Git gathers all of them in memory, some 500 bytes each, before it prints the first. */
const MAX_PATHS = 1_000_000
const MAX_DEPTH = 500
/** Different folders that are read for it: twice what the largest known repositories have. */
const MAX_FOLDERS = 100_000

/** Two trees, or commits, that are compared. A missing side is empty. */
export interface TreePair {
  before?: string | undefined
  after?: string | undefined
}

interface Node {
  /** Paths that differ in this folder itself. */
  paths: number
  /** Folders that differ, one for each name. */
  folders: string[]
}

/**
 * Refuses what git would walk without end: ten folders with ten names each can stand for 10^10 files. Folders of the same content are
 * read once, however many names they have, and those that are equal on both sides not at all.
 * @throws GitError `too-large` `limit`
 */
export async function limitPaths(store: Store, id: number, pairs: readonly TreePair[], call?: Call): Promise<void> {
  const nodes = new Map<string, Node>()
  const roots = pairs.map(({ before, after }) => keyOf({ before: rootOf(before), after: rootOf(after) }))
  let unread = [...new Set(roots)]
  while (unread.length > 0) {
    if (nodes.size + unread.length > MAX_FOLDERS) throw tooMany()
    const read = await compareAll(store, id, unread, call)
    for (const [key, node] of read) nodes.set(key, node)
    unread = [...new Set([...read.values()].flatMap(({ folders }) => folders))].filter((key) => !nodes.has(key))
  }
  const known = new Map<string, number>()
  for (const root of roots) if (countPaths(root, nodes, known, 0) > MAX_PATHS) throw tooMany()
}

const tooMany = () => new GitError('too-large', 'limit', 'too many files, or folders too deep')

const rootOf = (name: string | undefined): string | undefined => name && `${name}^{tree}`
const keyOf = ({ before = '', after = '' }: TreePair): string => `${before} ${after}`

async function compareAll(
  store: Store,
  id: number,
  keys: readonly string[],
  call: Call | undefined,
): Promise<Map<string, Node>> {
  const names = [...new Set(keys.flatMap((key) => key.split(' ')))].filter((name) => name !== '')
  const questions = names.map((name) => ({ verb: 'contents' as const, name, maxBytes: MAX_TREE_BYTES }))
  const answers = await store.readers.ask(id, questions, call)
  const trees = new Map(names.map((name, index) => [name, itemsOf(answers[index])]))
  return new Map(
    keys.map((key) => {
      const [before = '', after = ''] = key.split(' ')
      return [key, compare(trees.get(before) ?? [], trees.get(after) ?? [])]
    }),
  )
}

function itemsOf(answer: Answer | undefined): TreeItem[] {
  if (answer?.kind === 'too-large') throw tooMany()
  // The command that needs what is missing says so.
  if (answer?.kind !== 'object' || answer.type !== 'tree' || !answer.content) return []
  return parseTree(answer.content, answer.sha.length / 2)
}

function compare(before: readonly TreeItem[], after: readonly TreeItem[]): Node {
  const node: Node = { paths: 0, folders: [] }
  const old = new Map(before.map((item) => [item.rawName, item]))
  const sides: [TreeItem | undefined, TreeItem | undefined][] = after.map((item) => [old.get(item.rawName), item])
  const added = new Set(after.map(({ rawName }) => rawName))
  for (const item of before) if (!added.has(item.rawName)) sides.push([item, undefined])
  for (const [left, right] of sides) {
    if (left?.sha === right?.sha && left?.mode === right?.mode) continue
    node.paths += 1
    const pair = { before: folderIn(left), after: folderIn(right) }
    if (pair.before ?? pair.after) node.folders.push(keyOf(pair))
  }
  return node
}

const folderIn = (item: TreeItem | undefined): string | undefined => (item?.mode === '040000' ? item.sha : undefined)

function countPaths(key: string, nodes: Map<string, Node>, known: Map<string, number>, depth: number): number {
  const before = known.get(key)
  if (before !== undefined) return before
  if (depth > MAX_DEPTH) throw tooMany()
  const { paths, folders } = nodes.get(key) ?? { paths: 0, folders: [] }
  const count = folders.reduce((sum, folder) => sum + countPaths(folder, nodes, known, depth + 1), paths)
  known.set(key, count)
  return count
}
