import { and, asc, eq, lt, type SQL, sql } from 'drizzle-orm'
import {
  type ActionsConclusion,
  type ActionsJobRow,
  type ActionsStep,
  actionsJobs,
  actionsTasks,
} from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { removeEphemeralRunner } from '../actions-runners/store.ts'
import { appendLog } from './logs.ts'
import { placeOf } from './place.ts'
import { loadRun, lockRun } from './store.ts'
import { listTasksAtWork, lockTaskAtWork } from './tasks.ts'
import { changePlan, endTask, endWaitingJobs } from './transitions.ts'

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
  const { db, clock, log } = context
  await db.transaction(async (tx) => {
    await lockRun(tx, runId)
    const found = await lockTaskAtWork(tx, taskId, which)
    if (!found) return
    const { task, job } = found
    const now = clock.now()
    const error = reasonOf(job)
    const conclusion = job.isCancelled ? 'cancelled' : 'failure'
    const lines = [`${now.toISOString().slice(0, -1)}0000Z ${error}`]
    // Runners are told how many of their rows are stored, so this one is not counted. It also forgets the masks.
    await appendLog(tx, task, { lines, rowCount: 0, byteCount: 0, isComplete: true }, task.lastSeenAt)
    const steps = endSteps(task.steps, conclusion, now)
    await endTask({ tx, place: placeOf(context, found), now }, { id: taskId, steps }, { conclusion, error })
    await removeEphemeralRunner(tx, task.runnerId)
    log.info({ taskId, runnerId: task.runnerId, reason: error }, 'job ended for its runner')
  })
}

/** The step at work ends as the job does; those after it never began. */
const endSteps = (steps: readonly ActionsStep[], conclusion: ActionsConclusion, now: Date): ActionsStep[] =>
  steps.map((step) => {
    if (step.status === 'completed') return step
    const ended = { ...step, status: 'completed' as const, completedAt: now.toISOString() }
    return { ...ended, conclusion: step.status === 'in_progress' ? conclusion : 'skipped' }
  })

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
