import { and, asc, eq, lt, type SQL, sql } from 'drizzle-orm'
import { type ActionsJobRow, actionsJobs, actionsTasks } from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { endForRunner } from './end-for-runner.ts'
import { placeOf } from './place.ts'
import { loadRun, lockRun } from './store.ts'
import { listTasksAtWork, lockTaskAtWork } from './tasks.ts'
import { changePlan, endWaitingJobs } from './transitions.ts'

/** Of tasks, and of runs with queued jobs, in one run of a periodic task; the rest is found a minute later. */
const BATCH = 200
const MINUTE_MS = 60_000
/** A runner ends a job in its time, and still has to clean up and to tell. */
const GRACE_MINUTES = 10

/** Why tasks are ended for their runners. */
interface Rule {
  which: SQL
  reasonOf(job: ActionsJobRow): string
}

/** Of runners that have vanished. */
function silent({ clock, config }: Context): Rule {
  const minutes = config.actionsSilentMinutes
  const before = new Date(clock.now().getTime() - minutes * MINUTE_MS)
  return {
    which: lt(actionsTasks.lastSeenAt, before),
    reasonOf: () => `The runner has said nothing for ${minutes} minutes`,
  }
}

/** Of runners that do not keep to `timeout-minutes`. */
function endless({ clock }: Context): Rule {
  const minutes = sql`(${actionsJobs.plan}->>'timeoutMinutes')::float8 + ${GRACE_MINUTES}::float8`
  return {
    which: sql`${actionsTasks.startedAt} + make_interval(secs => 60 * (${minutes})) < ${clock.now().toISOString()}::text::timestamptz`,
    reasonOf: ({ plan }) => `The job has not ended within its timeout of ${plan?.timeoutMinutes ?? 0} minutes`,
  }
}

async function endTasks(context: Context, rule: Rule, signal: AbortSignal): Promise<void> {
  for (const found of await listTasksAtWork(context.db, rule.which, BATCH)) {
    if (signal.aborted) return
    await endOne(context, found, rule)
  }
}

/** The look was without a lock. What the runner has said since then, or another replica has done, counts. */
async function endOne(
  context: Context,
  { taskId, runId }: { taskId: number; runId: number },
  { which, reasonOf }: Rule,
): Promise<void> {
  const { db, clock } = context
  await db.transaction(async (tx) => {
    await lockRun(tx, runId)
    const found = await lockTaskAtWork(tx, taskId, which)
    if (!found) return
    const at = { tx, place: placeOf(context, found), now: clock.now() }
    const error = reasonOf(found.job)
    const conclusion = found.job.isCancelled ? 'cancelled' : 'failure'
    await endForRunner(context, at, found, { conclusion, error, lastWord: error })
  })
}

/** Nothing changes a job while it is queued, so `updatedAt` is since when it is. */
async function cancelUntaken(context: Context, signal: AbortSignal): Promise<void> {
  const { db, clock, config } = context
  const before = new Date(clock.now().getTime() - config.actionsQueuedHours * 60 * MINUTE_MS)
  const isUntaken = and(eq(actionsJobs.status, 'queued'), lt(actionsJobs.updatedAt, before))
  const rows = await db
    .selectDistinct({ runId: actionsJobs.runId })
    .from(actionsJobs)
    .where(isUntaken)
    .orderBy(asc(actionsJobs.runId))
    .limit(BATCH)
  for (const { runId } of rows) {
    if (signal.aborted) return
    await cancelUntakenOf(context, runId, isUntaken)
  }
}

async function cancelUntakenOf(context: Context, runId: number, isUntaken: SQL | undefined): Promise<void> {
  const { db, clock, config } = context
  await db.transaction(async (tx) => {
    await lockRun(tx, runId)
    const loaded = await loadRun(tx, runId)
    if (!loaded) return
    // A runner may take one at this moment: then it has it.
    const jobs = await tx
      .select({ id: actionsJobs.id })
      .from(actionsJobs)
      .where(and(eq(actionsJobs.runId, runId), isUntaken))
      .for('update', { skipLocked: true })
    if (jobs.length === 0) return
    const ids = jobs.map(({ id }) => id)
    const error = `No runner has taken the job within ${config.actionsQueuedHours} hours`
    const at = { tx, place: placeOf(context, loaded), now: clock.now() }
    await endWaitingJobs(at, ids, { conclusion: 'cancelled', error })
    await changePlan(tx, runId)
  })
}

/** Jobs that nobody brings to their end. */
export const abandonedTasks: readonly CronTask[] = [
  {
    name: 'stop_zombie_tasks',
    schedule: '@every 1m',
    description: 'End jobs whose runner has said nothing for long',
    run: (context, signal) => endTasks(context, silent(context), signal),
  },
  {
    name: 'stop_endless_tasks',
    schedule: '@every 1m',
    description: 'End jobs that work for longer than their timeout',
    run: (context, signal) => endTasks(context, endless(context), signal),
  },
  {
    name: 'cancel_abandoned_jobs',
    schedule: '@every 1m',
    description: 'Cancel jobs that no runner takes',
    run: cancelUntaken,
  },
]
