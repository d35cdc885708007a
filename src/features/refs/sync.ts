import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { appendEvents } from '../../events/append.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import { setDefaultBranch } from './default-branch.ts'
import { describePushes, type RefMove } from './describe.ts'
import { type DiskRef, hasRow, readDiskRefs, storableDate, tipOf } from './disk.ts'
import { BRANCHES, parseRef } from './names.ts'
import { enqueueRefresh } from './refresh.ts'
import { countBranches, loadRows, lockRepository, removePush, removeRows, upsertRows } from './store.ts'

export interface SyncOptions {
  /** Full names of the refs to compare; without it all branches and tags. */
  only?: readonly string[]
  /** The intent that ends with this: see `insertPush`. */
  pushId?: number
}

/**
 * Makes the rows of a repository say what its refs on disk say, and in the same transaction writes what follows from each
 * difference: counters, default branch, `push`, `ref.created` and `ref.deleted` events, the refresh job. Does nothing where
 * nothing differs, so that it also repairs what a crash has left. Whoever moves a ref calls it before answering.
 * @returns what differed, in the order of `only`, else by name
 */
export async function syncRefs(
  context: Context,
  repositoryId: number,
  pusher: { id: number } | undefined,
  { only, pushId }: SyncOptions = {},
): Promise<RefMove[]> {
  return oneAtATime(repositoryId, () =>
    context.db.transaction(async (tx) => {
      const repository = await lockRepository(tx, repositoryId)
      if (!repository) return []
      const moves = await syncLocked({ ...context, db: tx }, repository, { only: only?.filter(hasRow), pusher })
      if (pushId !== undefined) await removePush(tx, pushId)
      return moves
    }),
  )
}

const waiting = new Map<number, Promise<unknown>>()

/** Those who would only wait for the row's lock wait here, where they hold no connection. */
async function oneAtATime<Result>(repositoryId: number, work: () => Promise<Result>): Promise<Result> {
  const before = waiting.get(repositoryId) ?? Promise.resolve()
  const mine = before.then(work, work)
  waiting.set(repositoryId, mine)
  try {
    return await mine
  } finally {
    if (waiting.get(repositoryId) === mine) waiting.delete(repositoryId)
  }
}

interface Scope {
  only: readonly string[] | undefined
  pusher: { id: number } | undefined
}

/** `context.db` is the transaction that holds the repository's lock. */
async function syncLocked(context: Context, repository: RepositoryRow, { only, pusher }: Scope): Promise<RefMove[]> {
  const { db, git } = context
  const { id } = repository
  const [disk, rows] = await Promise.all([readDiskRefs(git, id, only), loadRows(db, id, only)])
  const moves = compare(disk, rows, only)
  // Before the rows change: a new branch is compared with where the default branch stood.
  const base = rows.get(BRANCHES + repository.defaultBranch) ?? (await tipOfDefault(db, repository))
  await writeRows(context, repository, { moves, disk, pusher })
  const created = moves.filter(({ old }) => old === null).flatMap(({ ref }) => parseRef(ref) ?? [])
  const change = { created, isWhole: only === undefined, mayHaveBranches: disk.size > 0 || rows.size > 0 }
  const defaultBranch = await setDefaultBranch(context, repository, change)
  if (moves.length === 0) return moves
  const branchCount = await countBranches(db, id)
  const counters = { branchCount, isEmpty: branchCount === 0, defaultBranch, updatedAt: context.clock.now() }
  await db.update(repositories).set(counters).where(eq(repositories.id, id))
  const pushed = await describePushes({ git, repositoryId: id, base }, moves)
  const subject = { actorId: pusher?.id ?? null, repositoryId: id, ownerId: repository.ownerId }
  const events = moves.flatMap((move, index): NewEvent[] => {
    const payload = pushed[index]
    return [...refEvents(move, subject), ...(payload ? [{ ...subject, kind: 'push' as const, payload }] : [])]
  })
  await appendEvents(db, events)
  await enqueueRefresh(db, id)
  return moves
}

/**
 * Writes the rows of a repository that came into being with its refs: a fork, an adopted folder. Nobody pushed them, so no event
 * tells of them. `context.db` is the transaction that inserted the repository.
 */
export async function recordFirstRefs(
  context: Context,
  repository: RepositoryRow,
  pusher: { id: number },
): Promise<void> {
  const { db, git } = context
  const disk = await readDiskRefs(git, repository.id, undefined)
  const moves = compare(disk, new Map(), undefined)
  await writeRows(context, repository, { moves, disk, pusher })
  const branchCount = await countBranches(db, repository.id)
  await db
    .update(repositories)
    .set({ branchCount, isEmpty: branchCount === 0 })
    .where(eq(repositories.id, repository.id))
  await enqueueRefresh(db, repository.id)
}

/** Differences in the order of `only`, else by name: the same run gives the same events. */
export function compare(
  disk: ReadonlyMap<string, DiskRef>,
  rows: ReadonlyMap<string, string>,
  only: readonly string[] | undefined,
): RefMove[] {
  const names = new Set(only ?? [...disk.keys(), ...rows.keys()].sort())
  return [...names].flatMap((ref) => {
    const [old, next] = [rows.get(ref) ?? null, disk.get(ref)?.sha ?? null]
    return old === next ? [] : [{ ref, old, new: next }]
  })
}

async function tipOfDefault(db: Db, { id, defaultBranch }: RepositoryRow): Promise<string | undefined> {
  const ref = BRANCHES + defaultBranch
  return (await loadRows(db, id, [ref])).get(ref)
}

interface Written {
  moves: readonly RefMove[]
  disk: ReadonlyMap<string, DiskRef>
  pusher: { id: number } | undefined
}

async function writeRows(context: Context, { id }: RepositoryRow, { moves, disk, pusher }: Written): Promise<void> {
  const { db, git, clock } = context
  const gone = moves.filter((move) => move.new === null).map(({ ref }) => ref)
  // First: the name `a` may have to go before `a/b` can come.
  await removeRows(db, id, gone)
  const targets = moves.flatMap(({ ref }) => disk.get(ref)?.target ?? [])
  const commits = await git.readCommits(id, [...new Set(targets)])
  const now = clock.now()
  const rows = moves.flatMap(({ ref }) => {
    const [held, name] = [disk.get(ref), parseRef(ref)]
    if (!held || !name) return []
    const commit = commits.get(held.target)
    const committedAt = commit ? storableDate(commit.committer.date) : null
    const tip = commit ? tipOf(commit) : null
    return [
      { repositoryId: id, ...name, sha: held.sha, commit: tip, committedAt, pusherId: pusher?.id, updatedAt: now },
    ]
  })
  await upsertRows(db, rows)
}

interface Subject {
  actorId: number | null
  repositoryId: number
  ownerId: number
}

function refEvents({ ref, old, new: next }: RefMove, subject: Subject): NewEvent[] {
  if (old === null && next !== null) return [{ ...subject, kind: 'ref.created', payload: { ref, sha: next } }]
  if (old !== null && next === null) return [{ ...subject, kind: 'ref.deleted', payload: { ref, sha: old } }]
  return []
}
