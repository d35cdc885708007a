import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { GitError, isGitError } from '../../git/errors.ts'
import type { ListedRemote, RefChange } from '../../git/model.ts'
import type { JobRun } from '../../jobs/handlers.ts'
import { recordPush } from '../refs/change.ts'
import { readDiskRefs } from '../refs/disk.ts'
import { BRANCHES } from '../refs/names.ts'
import { longestPushSeconds } from '../refs/repair.ts'
import { reasonOf } from './failure.ts'
import { openRemote } from './remote.ts'
import { MAX_COPY_TRIES, nextTry, nextTurn } from './schedule.ts'
import { findPullMirror, type PullMirror, removePullMirror, setMirrorUpdated, updatePullMirror } from './store.ts'

/**
 * Brings a repository up to the server that it comes from. Once more changes nothing, so a killed attempt is simply made again: what it
 * fetched is seen by nobody before all refs move together.
 */
export async function pullMirror(context: Context, repositoryId: number, run: JobRun): Promise<void> {
  const { db, clock, git } = context
  const found = await findPullMirror(db, repositoryId)
  if (!found) return
  await updatePullMirror(db, repositoryId, { attemptedAt: clock.now() })
  try {
    if (run.attempt > 1) await git.cleanStale(repositoryId, longestPushSeconds(context.config))
    await update(context, found, run.signal)
  } catch (error) {
    // Deleted meanwhile.
    if (isGitError(error) && error.code === 'repository') return
    return await recordFailure(context, { repositoryId, error, run })
  }
  await recordSuccess(context, found, run)
}

async function update(context: Context, { mirror, repository }: PullMirror, signal: AbortSignal): Promise<void> {
  const { git, config } = context
  const { id } = repository
  const remote = await openRemote(context, mirror)
  const listed = await git.listRemote(remote, { signal })
  requireAcceptable(context, repository, listed)
  const fetched = await git.fetchRemote(id, { remote, maxBytes: config.maxPushBytes }, { signal })
  if (fetched.size > config.maxRefs) throw tooManyRefs(config.maxRefs)
  if (fetched.size === 0 && !repository.isEmpty) throw emptied()
  const changes = await changesOf(context, { mirror, repository }, fetched)
  if (changes.length === 0) return
  const head = listed.head !== undefined && fetched.has(BRANCHES + listed.head) ? listed.head : undefined
  const isFirst = repository.isEmpty
  await recordPush(context, { repositoryId: id, pusher: { id: repository.ownerId }, isFirst }, async () => {
    if (isFirst && head !== undefined) await git.setHead(id, head)
    await moveRefs(context, id, changes)
    return { result: undefined }
  })
}

/** Before anything is fetched: what cannot be stored here. @throws GitError */
export function requireAcceptable(
  { config }: Context,
  { objectFormat }: Pick<PullMirror['repository'], 'objectFormat'>,
  { refs }: ListedRemote,
): void {
  if (refs.length > config.maxRefs) throw tooManyRefs(config.maxRefs)
  const digits = objectFormat === 'sha256' ? 64 : 40
  if (refs.some(({ sha }) => sha.length !== digits))
    throw new GitError(
      'failed',
      'remote',
      `the other repository has another object format than this one (${objectFormat})`,
    )
}

const tooManyRefs = (most: number) =>
  new GitError('too-large', 'remote', `the other repository has more than ${most} branches and tags (MAX_REFS)`)

/** A page that says "back soon" reads to git as a repository without refs. */
const emptied = () =>
  new GitError('failed', 'remote', 'the other repository has no branches and tags any more; those here are kept')

/** From what the refs hold now: they move only where nobody else has moved them meanwhile. */
async function changesOf(
  { git }: Context,
  { mirror, repository }: PullMirror,
  fetched: ReadonlyMap<string, string>,
): Promise<RefChange[]> {
  const present = await readDiskRefs(git, repository.id)
  const moved = [...fetched].flatMap(([ref, sha]): RefChange[] => {
    const old = present.get(ref)?.sha ?? null
    return old === sha ? [] : [{ ref, old, new: sha }]
  })
  // What somebody pushed before a copy was whole is theirs.
  if (!repository.isMirror) return moved.filter(({ old }) => old === null)
  if (!mirror.prunes) return moved
  const gone = [...present].filter(([ref]) => !fetched.has(ref))
  return [...gone.map(([ref, { sha }]): RefChange => ({ ref, old: sha, new: null })), ...moved]
}

/** All together. Only where a name became a folder, or a folder a name, what is gone goes first: Git cannot do both at once. */
async function moveRefs({ git, config }: Context, id: number, changes: RefChange[]): Promise<void> {
  const call = { timeoutMs: config.gitTimeoutSeconds * 1000 }
  try {
    await git.updateRefs(id, changes, call)
  } catch (error) {
    const isDeletion = (change: RefChange) => change.new === null
    if (!isGitError(error) || error.code !== 'ref-name-conflict' || !changes.some(isDeletion)) throw error
    await git.updateRefs(id, changes.filter(isDeletion), call)
    await git.updateRefs(
      id,
      changes.filter((change) => !isDeletion(change)),
      call,
    )
  }
}

/** A copy that is made once is done with the other server. */
async function recordSuccess(context: Context, { repository }: PullMirror, run: JobRun): Promise<void> {
  const { db, clock, git } = context
  const { id, isMirror } = repository
  if (!isMirror) await git.forgetRemote(id, { signal: run.signal })
  await db.transaction(async (tx) => {
    await run.holdLease(tx)
    if (!isMirror) {
      await removePullMirror(tx, id)
      const subject = { actorId: null, repositoryId: id, ownerId: repository.ownerId }
      await appendEvent(tx, { ...subject, kind: 'repository.migrated', payload: {} })
      return
    }
    // The interval may have changed meanwhile.
    const interval = (await findPullMirror(tx, id))?.repository.mirrorIntervalSeconds ?? 0
    const now = clock.now()
    await updatePullMirror(tx, id, { lastError: '', failures: 0, nextAt: nextTurn(now, interval) })
    await setMirrorUpdated(tx, id, now)
  })
}

/** @throws the error itself where the queue shall try again */
async function recordFailure(
  { db, clock, log }: Context,
  { repositoryId, error, run }: { repositoryId: number; error: unknown; run: JobRun },
): Promise<void> {
  const reason = reasonOf(error)
  if (reason === undefined) throw error
  log.info(
    { repositoryId, reason, err: error },
    'a repository could not be brought up to the server that it comes from',
  )
  await db.transaction(async (tx) => {
    await run.holdLease(tx)
    const found = await findPullMirror(tx, repositoryId)
    if (!found) return
    const { mirror, repository } = found
    const failures = mirror.failures + 1
    const goesOn = repository.isMirror ? repository.mirrorIntervalSeconds !== 0 : failures < MAX_COPY_TRIES
    const nextAt = goesOn ? nextTry(clock.now(), failures) : null
    await updatePullMirror(tx, repositoryId, { lastError: reason, failures, nextAt })
  })
}
