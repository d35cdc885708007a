import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { appendEvents } from '../../events/append.ts'
import type { EventPayload, NewEvent } from '../../events/catalogue.ts'
import { createKeyedMutex } from '../../kernel/keyed-mutex.ts'
import { setDefaultBranch, targetBranchAfter } from './default-branch.ts'
import { describePushes, type RefMove } from './describe.ts'
import { type DiskRef, hasRow, readDiskRefs, storableDate, tipOf } from './disk.ts'
import { BRANCHES, parseRef, TAGS } from './names.ts'
import { enqueueRefresh } from './refresh.ts'
import {
  findState,
  hasBranch,
  loadRows,
  lockRepository,
  type NewRef,
  raiseGeneration,
  removePush,
  removeRows,
  upsertRows,
} from './store.ts'

export interface SyncOptions {
  /** Full names of the refs to compare; without it all branches and tags. */
  only?: readonly string[] | undefined
  /** The intent that ends with this: see `insertPush`. */
  pushId?: number
  /** They are what the repository begins with, copied from elsewhere. Nobody pushed them, so there is no event for them. */
  isFirst?: boolean | undefined
}

/**
 * Makes the rows of a repository say what its refs on disk say, and in the same transaction writes what follows from each
 * difference: counters, default branch, `push`, `ref.created` and `ref.deleted` events, the refresh job. Does nothing where
 * nothing differs, so that it also repairs what a crash has left. Whoever moves a ref calls it before answering.
 * Git is read before the transaction; README.md says why two of these at once are right all the same.
 * @returns what differed, in the order of `only`, else by name
 */
export async function syncRefs(
  context: Context,
  repositoryId: number,
  pusher: { id: number } | undefined,
  { only, pushId, isFirst }: SyncOptions = {},
): Promise<RefMove[]> {
  const scope = { only: only?.filter(hasRow), pusher, pushId, isFirst }
  return mutex.run(repositoryId, async () => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const survey = await surveyRefs(context, repositoryId, scope)
      if (!survey) return []
      if (await record(context, survey, scope)) return survey.moves
    }
    // The refs have moved. The intent of the push stays, and the repair of pushes does the rest.
    throw new Error(`the refs of repository ${repositoryId} were recorded by others ${MAX_TRIES} times in a row`)
  })
}

/** Those who would only read again wait here, where they hold no connection. */
const mutex = createKeyedMutex<number>()

/** Each try is lost to a comparison by another replica, which has then made progress. */
const MAX_TRIES = 100

interface Scope {
  only: readonly string[] | undefined
  pusher: { id: number } | undefined
  pushId?: number | undefined
  isFirst?: boolean | undefined
}

/** What is to be written, all of it read at or after `generation`. */
interface Survey {
  repositoryId: number
  generation: number
  moves: RefMove[]
  rows: NewRef[]
  /** What HEAD names; undefined where the default branch stays as it is. */
  head: string | undefined
  isWhole: boolean
  pushed: EventPayload<'push'>[]
}

/** Undefined when the repository is gone. */
async function surveyRefs(context: Context, id: number, { only, pusher }: Scope): Promise<Survey | undefined> {
  const { db, git } = context
  // First of all: what is read after it may be newer, and is then recorded by somebody who makes it grow.
  const state = await findState(db, id)
  if (!state) return undefined
  const rows = await loadRows(db, id, only)
  const disk = await readDiskRefs(git, id, only)
  const moves = compare(disk, rows, only)
  const isWhole = only === undefined
  const mayChoose = isWhole ? disk.size > 0 || rows.size > 0 : moves.some(({ old }) => old === null)
  const main = BRANCHES + state.defaultBranch
  // A new branch is compared with where the default branch stood.
  const base = rows.get(main) ?? (await loadRows(db, id, [main])).get(main)
  return {
    repositoryId: id,
    generation: state.generation,
    moves,
    rows: await rowsOf(context, id, { moves, disk, pusher }),
    head: mayChoose ? await git.getHead(id) : undefined,
    isWhole,
    pushed: await describePushes({ git, repositoryId: id, base }, moves),
  }
}

/** False when others have compared meanwhile, and everything must be read again. */
function record(context: Context, survey: Survey, { pusher, pushId, isFirst = false }: Scope): Promise<boolean> {
  const { repositoryId: id, moves } = survey
  return context.db.transaction(async (tx) => {
    const repository = await lockRepository(tx, id)
    const state = repository && (await findState(tx, id))
    if (repository && state?.generation !== survey.generation) return false
    if (repository && moves.length > 0 && !isFirst) await appendMoves(tx, repository, { survey, pusher })
    if (repository && moves.length > 0) await enqueueRefresh(tx, id)
    if (repository) await writeState({ ...context, db: tx }, repository, survey)
    if (pushId !== undefined) await removePush(tx, pushId)
    return true
  })
}

async function appendMoves(
  tx: Db,
  { id, ownerId, isMirror }: RepositoryRow,
  { survey: { moves, pushed }, pusher }: { survey: Survey; pusher: { id: number } | undefined },
): Promise<void> {
  const subject = { actorId: pusher?.id ?? null, repositoryId: id, ownerId }
  const events = moves.flatMap((move, index): NewEvent[] => {
    const payload = pushed[index]
    // Nobody else moves the refs of a mirror.
    const origin = isMirror ? { isMirrorSync: true } : {}
    const push = payload ? [{ ...subject, kind: 'push' as const, payload: { ...payload, ...origin } }] : []
    // Wire: a tag is pushed and then made, a branch is made and then pushed.
    return move.ref.startsWith(TAGS) ? [...push, ...refEvents(move, subject)] : [...refEvents(move, subject), ...push]
  })
  await appendEvents(tx, events)
}

/** `context.db` is the transaction that holds the repository's lock. Issues and stars need the counters, so these come last. */
async function writeState(context: Context, repository: RepositoryRow, survey: Survey): Promise<void> {
  const { db, clock } = context
  const { id } = repository
  const { moves, head, isWhole } = survey
  await writeRows(db, id, survey)
  const created = moves.filter(({ old }) => old === null).flatMap(({ ref }) => parseRef(ref) ?? [])
  const defaultBranch = await setDefaultBranch(context, repository, { created, isWhole, head })
  if (moves.length > 0) {
    const defaultTargetBranch = targetBranchAfter(repository.defaultTargetBranch, moves)
    const change = {
      isEmpty: !(await hasBranch(db, id)),
      defaultBranch,
      defaultTargetBranch,
      updatedAt: clock.now(),
    }
    await db.update(repositories).set(change).where(eq(repositories.id, id))
  }
  await raiseGeneration(db, id)
}

/**
 * Writes the rows of a repository that came into being with its refs: a fork, an adopted folder. Nobody pushed them, so no event
 * announces them. `context.db` is the transaction that inserted the repository.
 */
export async function recordFirstRefs(
  context: Context,
  repository: RepositoryRow,
  pusher: { id: number },
): Promise<void> {
  const { db, git } = context
  const disk = await readDiskRefs(git, repository.id, undefined)
  const moves = compare(disk, new Map(), undefined)
  await writeRows(db, repository.id, { moves, rows: await rowsOf(context, repository.id, { moves, disk, pusher }) })
  const isEmpty = !(await hasBranch(db, repository.id))
  await db.update(repositories).set({ isEmpty }).where(eq(repositories.id, repository.id))
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

async function writeRows(tx: Db, id: number, { moves, rows }: Pick<Survey, 'moves' | 'rows'>): Promise<void> {
  const gone = moves.filter((move) => move.new === null).map(({ ref }) => ref)
  // First: the name `a` may have to go before `a/b` can come.
  await removeRows(tx, id, gone)
  await upsertRows(tx, rows)
}

interface Found {
  moves: readonly RefMove[]
  disk: ReadonlyMap<string, DiskRef>
  pusher: { id: number } | undefined
}

/** The rows of the refs that have moved and are still there. */
async function rowsOf(
  { git, clock }: Context,
  repositoryId: number,
  { moves, disk, pusher }: Found,
): Promise<NewRef[]> {
  const targets = moves.flatMap(({ ref }) => disk.get(ref)?.target ?? [])
  const commits = await git.readCommits(repositoryId, [...new Set(targets)])
  const updatedAt = clock.now()
  return moves.flatMap(({ ref }) => {
    const [held, name] = [disk.get(ref), parseRef(ref)]
    if (!held || !name) return []
    const commit = commits.get(held.target)
    const committedAt = commit ? storableDate(commit.committer.date) : null
    const tip = commit ? tipOf(commit) : null
    return [{ repositoryId, ...name, sha: held.sha, commit: tip, committedAt, pusherId: pusher?.id, updatedAt }]
  })
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
