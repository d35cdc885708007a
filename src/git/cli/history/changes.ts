import { GitError } from '../../errors.ts'
import type { Call, Changes, Commit, DiffQuery, FileChange } from '../../model.ts'
import { limitPaths } from '../objects/tree-size.ts'
import { emptyTreeOf } from '../objects/trees.ts'
import { runGit, streamGit } from '../process/process.ts'
import { readCommit, resolveCommit } from '../refs/revisions.ts'
import { requireFolder, type Store } from '../store.ts'
import { mergeBase } from './ancestry.ts'

const DIFF = ['diff-tree', '-r', '-z', '-M', '--raw', '--numstat', '--no-ext-diff', '--no-textconv', '--full-index']
const MAX_FILES = 3000

/** Changes with more files than this are computed each time. */
const MAX_KEPT_FILES = 50

type Compared = Pick<Commit, 'sha' | 'parents'>

/** What each commit did to its first parent. What was compared lately is known, as it never changes. */
export async function changesOfCommits(
  store: Store,
  id: number,
  commits: Compared[],
  call?: Call,
): Promise<Map<string, Changes>> {
  const bySha = new Map(commits.map((commit) => [commit.sha, commit]))
  const large = new Map<string, Changes>()
  const small = await store.changes.getAll(id, [...bySha.keys()], async (unknown) => {
    const computed = await compareAll(
      store,
      id,
      unknown.flatMap((sha) => bySha.get(sha) ?? []),
      call,
    )
    for (const [sha, change] of computed) {
      if (change.files.length <= MAX_KEPT_FILES) continue
      large.set(sha, change)
      computed.delete(sha)
    }
    return computed
  })
  return new Map([...small, ...large])
}

/** All in one process. */
async function compareAll(store: Store, id: number, commits: Compared[], call?: Call): Promise<Map<string, Changes>> {
  const folder = await requireFolder(store.runner.root, id)
  const pairs = commits.map(({ sha, parents }) => ({ before: parents[0], after: sha }))
  await limitPaths(store, id, pairs, call)
  // The parents given behind a commit are used as if they were its own, so a merge is compared with its first.
  const stdin = commits.map(({ sha, parents }) => `${sha} ${parents[0] ?? ''}`.trimEnd()).join('\n')
  const { stdout } = await runGit(store.runner, {
    args: [...DIFF, '--root', '--stdin'],
    folder,
    stdin: `${stdin}\n`,
    call,
    memory: 'much',
  })
  const found = parseChanges(stdout.toString(), MAX_FILES)
  // Of a commit that changes nothing git says nothing.
  return new Map(commits.map(({ sha }) => [sha, found.get(sha) ?? nothing()]))
}

const nothing = (): Changes => ({ additions: 0, deletions: 0, files: [], isTruncated: false })

export async function changes(
  store: Store,
  id: number,
  query: Omit<DiffQuery, 'format'> & { limit?: number },
  call?: Call,
): Promise<Changes> {
  if (query.base === undefined && query.path === undefined && query.limit === undefined) {
    const commit = await readCommit(store, id, query.head, call)
    return (await changesOfCommits(store, id, [commit], call)).get(commit.sha) ?? nothing()
  }
  const { base, head } = await endpoints(store, id, query, call)
  const folder = await requireFolder(store.runner.root, id)
  await limitPaths(store, id, [{ before: base, after: head }], call)
  const args = [...DIFF, '--end-of-options', base, head, '--', ...pathArgs(query.path)]
  const { stdout } = await runGit(store.runner, { args, folder, call, memory: 'much' })
  const all = parseChanges(`${head}\0${stdout}`, query.limit ?? MAX_FILES)
  return all.get(head) ?? nothing()
}

function pathArgs(path: string | undefined): string[] {
  if (path?.includes('\0')) throw new GitError('invalid', 'path-syntax', 'a path without NUL is needed')
  return path ? [path] : []
}

async function endpoints(
  store: Store,
  id: number,
  query: DiffQuery,
  call?: Call,
): Promise<{ base: string; head: string }> {
  if (query.base === undefined) {
    const { sha, parents } = await readCommit(store, id, query.head, call)
    return { base: parents[0] ?? (await emptyTreeOf(store, id)), head: sha }
  }
  const head = await resolveCommit(store, id, query.head, call)
  const base = await resolveCommit(store, id, query.base, call)
  if (!query.fromMergeBase) return { base, head }
  return { base: (await mergeBase(store, id, [base, head], call)) ?? (await emptyTreeOf(store, id)), head }
}

const STATUSES = new Map<string, FileChange['status']>([
  ['A', 'added'],
  ['D', 'deleted'],
  ['M', 'modified'],
  ['R', 'renamed'],
  ['C', 'copied'],
  ['T', 'type-changed'],
])

/** `--raw --numstat -z`: for each commit its id, then all raw records, then all numbers of lines in the same order. */
function parseChanges(text: string, maxFiles: number): Map<string, Changes> {
  const fields = text.split('\0')
  const all = new Map<string, Changes>()
  let current = nothing()
  let counted = 0
  for (let at = 0; at < fields.length - 1; ) {
    const field = fields[at++] ?? ''
    if (field.startsWith(':')) {
      const { change, hasTwoPaths } = parseRaw(field)
      const first = fields[at++] ?? ''
      if (hasTwoPaths) Object.assign(change, { previousPath: first, path: fields[at++] ?? '' })
      else change.path = first
      if (current.files.length < maxFiles) current.files.push(change)
      else current.isTruncated = true
      continue
    }
    const numbers = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field)
    if (numbers) {
      if (numbers[3] === '') at += 2
      count(current, current.files[counted++], numbers)
      continue
    }
    current = nothing()
    counted = 0
    all.set(field, current)
  }
  return all
}

function parseRaw(field: string): { change: FileChange; hasTwoPaths: boolean } {
  const [oldMode = '', newMode = '', oldSha = '', newSha = '', letters = ''] = field.slice(1).split(' ')
  const letter = letters.charAt(0)
  const change: FileChange = {
    path: '',
    status: STATUSES.get(letter) ?? 'modified',
    additions: 0,
    deletions: 0,
    isBinary: false,
    ...(/[1-9]/.test(oldMode) && { oldMode, oldSha }),
    ...(/[1-9]/.test(newMode) && { newMode, newSha }),
  }
  return { change, hasTwoPaths: letter === 'R' || letter === 'C' }
}

function count(total: Changes, file: FileChange | undefined, numbers: RegExpExecArray): void {
  if (!file) return
  file.isBinary = numbers[1] === '-'
  file.additions = file.isBinary ? 0 : Number(numbers[1])
  file.deletions = file.isBinary ? 0 : Number(numbers[2])
  total.additions += file.additions
  total.deletions += file.deletions
}

const MAX_DIFF_MS = 120_000

const PATCH = ['-M', '--no-ext-diff', '--no-textconv', '--no-color']

export async function diff(
  store: Store,
  id: number,
  query: DiffQuery,
  call?: Call,
): Promise<ReadableStream<Uint8Array>> {
  const paths = pathArgs(query.path)
  const { base, head } = await endpoints(store, id, query, call)
  await limitPaths(store, id, [{ before: base, after: head }], call)
  const folder = await requireFolder(store.runner.root, id)
  const range =
    query.base === undefined ? ['-1', '--root', '--end-of-options', head] : ['--end-of-options', `${base}..${head}`]
  const args =
    query.format === 'patch'
      ? ['format-patch', '--stdout', '--no-signature', ...PATCH, ...range]
      : ['diff-tree', '-r', '-p', ...(query.withBinary ? ['--binary'] : []), ...PATCH, base, head]
  // Half an hour of a processor can hide in a megabyte that somebody pushed, and the places are those of clones and pushes.
  const limited = { timeoutMs: MAX_DIFF_MS, ...call }
  const command = { args: [...args, '--', ...paths], folder, call: limited, isTransfer: true }
  return streamGit(store.runner, { ...command, memory: 'much' })
}
