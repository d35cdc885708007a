import type { Db } from '../../../db/client.ts'
import type { IssueRow } from '../../../db/schema/issues.ts'
import { judge } from '../../access/decide.ts'
import { unitOf } from '../../access/issues.ts'
import { findRepositoryById } from '../../access/load.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { withRights } from '../../http/repository-gate.ts'
import { conflict, forbidden, notFound } from '../../kernel/errors.ts'
import { secondsBetween } from '../../wire/tracked-time.ts'
import { lockIssues } from '../issues/store.ts'
import { lockAccount } from '../users/lock.ts'
import { book, type Deed, note } from './book.ts'
import type { Tracking } from './rights.ts'
import { MAX_SECONDS } from './schema.ts'
import { findStopwatch, insertStopwatch, removeStopwatch } from './store.ts'

/**
 * Starts a stopwatch; one that runs on another issue stops.
 * @throws Refusal 403 where times are switched off, 404 when the issue is gone, 409 where it runs already
 */
export async function startStopwatch(context: Context, tracking: Tracking): Promise<void> {
  const { actor, issue } = tracking
  requireStopwatches(tracking.repo)
  const deed = { doerId: actor.user.id, at: context.clock.now() }
  await context.db.transaction(async (tx) => {
    const running = await lockStopwatch(tx, tracking)
    if (running?.issue.id === issue.id) throw conflict('cannot start a stopwatch again if it already exists')
    // Whoever has lost access since writes nothing there: that time is lost.
    if (running && (await mayStillTrack(context, tx, { actor, issue: running.issue }))) await stop(tx, running, deed)
    else if (running) await removeStopwatch(tx, actor.user.id)
    await insertStopwatch(tx, { userId: actor.user.id, issueId: issue.id, startedAt: deed.at })
    await note(tx, issue.id, deed, { kind: 'start_tracking' })
  })
}

/** Stops a stopwatch, and books its time. @throws Refusal 403 and 404 as above, 409 where none runs */
export async function stopStopwatch(context: Context, tracking: Tracking): Promise<void> {
  requireStopwatches(tracking.repo)
  const deed = { doerId: tracking.actor.user.id, at: context.clock.now() }
  await context.db.transaction(async (tx) => {
    const running = await lockStopwatch(tx, tracking)
    if (running?.issue.id !== tracking.issue.id) throw conflict('cannot stop a non-existent stopwatch')
    await stop(tx, running, deed)
  })
}

/** Forgets a stopwatch and its time. @throws Refusal 403 and 404 as above, 409 where none runs */
export async function cancelStopwatch(context: Context, tracking: Tracking): Promise<void> {
  const { actor, issue } = tracking
  requireStopwatches(tracking.repo)
  await context.db.transaction(async (tx) => {
    const running = await lockStopwatch(tx, tracking)
    if (running?.issue.id !== issue.id) throw conflict('cannot cancel a non-existent stopwatch')
    await removeStopwatch(tx, actor.user.id)
    await note(tx, issue.id, { doerId: actor.user.id, at: context.clock.now() }, { kind: 'cancel_tracking' })
  })
}

/** Wire: 403, where booking by hand is 400. */
function requireStopwatches({ repository }: RepositoryAccess): void {
  if (!repository.enableTimeTracker) throw forbidden('time tracking disabled')
}

interface Running {
  startedAt: Date
  issue: IssueRow
}

/**
 * The running stopwatch. The stopwatches of one person are changed one after the other: of two starts at once the later one stops what the
 * earlier began. The person is locked first and then the issues, as when an account is deleted.
 * @throws Refusal 404 when the issue is gone
 */
async function lockStopwatch(tx: Db, { actor, issue }: Tracking): Promise<Running | undefined> {
  await lockAccount(tx, actor.user.id)
  const found = await findStopwatch(tx, actor.user.id)
  const locked = await lockIssues(tx, [issue.id, ...(found ? [found.issueId] : [])])
  if (!locked.some(({ id }) => id === issue.id)) throw notFound()
  // With its issue a stopwatch has gone.
  const other = locked.find(({ id }) => id === found?.issueId)
  return found && other && { startedAt: found.startedAt, issue: other }
}

async function mayStillTrack(
  context: Context,
  tx: Db,
  { actor, issue }: { actor: Actor; issue: IssueRow },
): Promise<boolean> {
  const loaded = await findRepositoryById(tx, issue.repositoryId, actor.user.id)
  if (!loaded?.repository.enableTimeTracker) return false
  const repo = withRights(context, actor, loaded)
  return judge(actor, repo, { unit: unitOf(issue), level: 'write', isChange: true }) === 'granted'
}

async function stop(tx: Db, { startedAt, issue }: Running, { doerId, at }: Deed): Promise<void> {
  const seconds = Math.min(secondsBetween(startedAt, at), MAX_SECONDS)
  await removeStopwatch(tx, doerId)
  await book(tx, issue, { kind: 'stop_tracking', userId: doerId, seconds, createdAt: at, at })
}
