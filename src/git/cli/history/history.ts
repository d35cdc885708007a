import { GitError } from '../../errors.ts'
import type { Call, LoggedCommit, LogQuery } from '../../model.ts'
import { runGit } from '../process/process.ts'
import { readCommits, resolveCommit } from '../refs/revisions.ts'
import { requireFolder, type Store } from '../store.ts'
import { changesOfCommits } from './changes.ts'

const MAX_LOG = 10_000
const MAX_KEPT_LOG = 100

export async function log(store: Store, id: number, query: LogQuery, call?: Call): Promise<LoggedCommit[]> {
  const { skip = 0, limit, notIn } = query
  if (limit < 1) return []
  const selection = await selectCommits(store, id, query, call)
  const args = [`--max-count=${Math.min(limit, MAX_LOG)}`, `--skip=${Math.max(0, skip)}`, ...selection]
  const ask = async () => lines(await revList(store, id, { args, notIn }, call))
  // The first pages are asked for again and again, each time with a process of some milliseconds.
  const shas = limit <= MAX_KEPT_LOG ? await store.logs.get(id, args.join('\0'), ask) : await ask()
  const commits = await readCommits(store, id, shas, call)
  const changes = query.withChanges ? await changesOfCommits(store, id, [...commits.values()], call) : undefined
  return shas.flatMap((sha) => {
    const commit = commits.get(sha)
    return commit ? [{ ...commit, ...(changes && { changes: changes.get(sha) }) }] : []
  })
}

/** Counting walks all of the history (17 ms for 10,000 commits); between the same ids the number never changes. */
export async function countCommits(
  store: Store,
  id: number,
  query: Omit<LogQuery, 'limit' | 'skip' | 'withChanges'>,
  call?: Call,
): Promise<number> {
  const selection = await selectCommits(store, id, query, call)
  return store.counts.get(id, selection.join('\0'), async () =>
    Number(await revList(store, id, { args: ['--count', ...selection], notIn: query.notIn }, call)),
  )
}

async function selectCommits(
  store: Store,
  id: number,
  query: Omit<LogQuery, 'limit' | 'skip'>,
  call?: Call,
): Promise<string[]> {
  const { revision, not = [], notIn, path, since, until, firstParent } = query
  const [head, ...excluded] = await Promise.all([revision, ...not].map((name) => resolveCommit(store, id, name, call)))
  if (notIn) excluded.push(await resolveCommit(store, notIn.repositoryId, notIn.revision, call))
  return [
    ...(since ? [`--max-age=${seconds(since)}`] : []),
    ...(until ? [`--min-age=${seconds(until)}`] : []),
    ...(firstParent ? ['--first-parent'] : []),
    '--end-of-options',
    head ?? '',
    ...excluded.map((sha) => `^${sha}`),
    '--',
    ...(path ? [path] : []),
  ]
}

const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
const lines = (text: string) => text.split('\n').filter(Boolean)

async function revList(
  store: Store,
  id: number,
  { args, notIn }: { args: string[]; notIn: LogQuery['notIn'] },
  call?: Call,
): Promise<string> {
  if (args.some((arg) => arg.includes('\0')))
    throw new GitError('invalid', 'path-syntax', 'a path without NUL is needed')
  const { root } = store.runner
  const folder = await requireFolder(root, id)
  // With the objects of both, git walks back to where they part.
  const beside = notIn && notIn.repositoryId !== id ? await requireFolder(root, notIn.repositoryId) : undefined
  const { stdout } = await runGit(store.runner, { args: ['rev-list', ...args], folder, beside, call })
  return stdout.toString()
}
