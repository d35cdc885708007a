import { and, eq, inArray, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import {
  type ActionsConclusion,
  type ActionsJobPlan,
  type ActionsJobRow,
  type ActionsRunRow,
  type ActionsTaskRow,
  actionsJobs,
  actionsRuns,
  actionsTasks,
} from '../../../db/schema/actions.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { enqueueJobs } from '../../jobs/enqueue.ts'
import { QUEUED_CHANNEL } from './channel.ts'
import { tellOfJobs, tellOfRun, toldRunColumns } from './events.ts'
import { wakeFollowers } from './logs.ts'
import {
  type RunPlace,
  writeForgottenProblem,
  writeJobStatuses,
  writeProblemStatus,
  writeReplacedStatuses,
} from './statuses.ts'

// The only writer of states. Each transition is an UPDATE with the old state in its WHERE, so what another one did first is never undone;
// statuses and events follow in the same transaction. A run is locked before its jobs; a claim, which has its job first, never waits for the run.

export interface Transition {
  tx: Db
  place: RunPlace
  now: Date
}

type NewRun = typeof actionsRuns.$inferInsert
export type NewJob = typeof actionsJobs.$inferInsert

/** Undefined when the event has started this workflow already. */
export async function insertRun(
  tx: Db,
  run: NewRun,
  owner: Pick<RunPlace, 'ownerId'>,
): Promise<ActionsRunRow | undefined> {
  const [row] = await tx.insert(actionsRuns).overridingSystemValue().values(run).onConflictDoNothing().returning()
  if (!row) return undefined
  await tellOfRun(tx, owner, 'workflow_run.requested', row)
  if (row.status === 'completed') await tellOfRun(tx, owner, 'workflow_run.completed', row)
  return row
}

/** Says of a run that failed before any job why. */
export const reportProblem = ({ tx, place, now }: Transition, problem: string): Promise<void> =>
  writeProblemStatus(tx, place, problem, now)

export async function insertJobs(at: Transition, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return
  const rows = await at.tx
    .insert(actionsJobs)
    .values([...jobs])
    .returning()
  await announce(at, rows)
}

/** What the plan says of a job that waits. */
export type Planned = Pick<NewJob, 'name' | 'position' | 'needs' | 'labels'>

/** A job that waits on is described anew, and not told of. */
export async function describeBlocked({ tx, now }: Transition, id: number, planned: Planned): Promise<void> {
  await tx
    .update(actionsJobs)
    .set({ ...planned, updatedAt: now })
    .where(and(eq(actionsJobs.id, id), eq(actionsJobs.status, 'blocked')))
}

/** blocked → queued */
export async function queueJob(
  at: Transition,
  id: number,
  ready: Planned & { plan: ActionsJobPlan; payload: string },
): Promise<void> {
  const rows = await at.tx
    .update(actionsJobs)
    .set({ ...ready, status: 'queued', updatedAt: at.now })
    .where(and(eq(actionsJobs.id, id), eq(actionsJobs.status, 'blocked')))
    .returning()
  await announce(at, rows)
}

export interface End {
  conclusion: ActionsConclusion
  error?: string | undefined
}

/** blocked, queued → completed: of jobs that no runner has. Says how many there were. */
export async function endWaitingJobs(
  at: Transition,
  ids: readonly number[],
  { conclusion, error }: End,
): Promise<number> {
  if (ids.length === 0) return 0
  const rows = await at.tx
    .update(actionsJobs)
    .set({ status: 'completed', conclusion, error: error ?? null, completedAt: at.now, updatedAt: at.now })
    .where(and(anyOf(actionsJobs.id, ids), inArray(actionsJobs.status, ['blocked', 'queued'])))
    .returning()
  await announce(at, rows)
  return rows.length
}

/** Its runner is told to end it. */
export async function cancelRunningJobs({ tx, now }: Transition, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .update(actionsJobs)
    .set({ isCancelled: true, updatedAt: now })
    .where(and(anyOf(actionsJobs.id, ids), eq(actionsJobs.status, 'in_progress')))
}

/** Rows that stood for jobs which were not known yet. */
export async function removeBlockedJobs({ tx, place, now }: Transition, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const rows = await tx
    .delete(actionsJobs)
    .where(and(anyOf(actionsJobs.id, ids), eq(actionsJobs.status, 'blocked')))
    .returning()
  await writeReplacedStatuses(tx, place, rows, now)
}

/** queued → in_progress, by the task of a runner. */
export async function startJob(
  at: Transition,
  job: ActionsJobRow,
  task: Omit<typeof actionsTasks.$inferInsert, 'jobId' | 'attempt' | 'status'>,
): Promise<{ job: ActionsJobRow; taskId: number }> {
  const attempt = job.attempt + 1
  const [made] = await at.tx
    .insert(actionsTasks)
    .values({ ...task, jobId: job.id, attempt, status: 'in_progress' })
    .returning()
  const [row] = await at.tx
    .update(actionsJobs)
    .set({ status: 'in_progress', attempt, taskId: made?.id ?? null, startedAt: at.now, updatedAt: at.now })
    .where(and(eq(actionsJobs.id, job.id), eq(actionsJobs.status, 'queued')))
    .returning()
  if (!made || !row) throw new Error(`job ${job.id} was claimed twice`)
  await announce(at, [row], made)
  await startRun(at)
  return { job: row, taskId: made.id }
}

/** queued → in_progress. While somebody else holds the run, this is left to the plan that follows. */
export async function startRun({ tx, place, now }: Transition): Promise<void> {
  const isWaiting = and(eq(actionsRuns.id, place.run.id), eq(actionsRuns.status, 'queued'))
  const [open] = await tx
    .select({ startedAt: actionsRuns.startedAt })
    .from(actionsRuns)
    .where(isWaiting)
    .for('update', { skipLocked: true })
  if (!open) {
    if ((await tx.$count(actionsRuns, isWaiting)) > 0) await planAgain(tx, place.run.id)
    return
  }
  const [row] = await tx
    .update(actionsRuns)
    .set({ status: 'in_progress', startedAt: open.startedAt ?? now, updatedAt: now })
    .where(isWaiting)
    .returning(toldRunColumns)
  // Wire: of a run that had rested it was told before.
  if (row && open.startedAt === null) await tellOfRun(tx, place, 'workflow_run.in_progress', row)
}

/** in_progress → queued. Wire: a run none of whose jobs is at work waits again. The run is locked. */
export async function restRun({ tx, place, now }: Transition): Promise<void> {
  await tx
    .update(actionsRuns)
    .set({ status: 'queued', updatedAt: now })
    .where(and(eq(actionsRuns.id, place.run.id), eq(actionsRuns.status, 'in_progress')))
}

/** A task with the last that is known of it. */
export type LastWord = Pick<ActionsTaskRow, 'id' | 'steps'> & Partial<Pick<ActionsTaskRow, 'outputs' | 'lastSeenAt'>>

/** in_progress → completed: a task, and its job with it. False when the task had ended before. Locks the run. */
export async function endTask(
  at: Transition,
  { id: taskId, steps, outputs, lastSeenAt }: LastWord,
  { conclusion, error }: End,
): Promise<boolean> {
  const { tx, place, now } = at
  await changePlan(tx, place.run.id)
  const [task] = await tx
    .update(actionsTasks)
    .set({ steps, outputs, lastSeenAt, status: 'completed', conclusion, completedAt: now })
    .where(and(eq(actionsTasks.id, taskId), eq(actionsTasks.status, 'in_progress')))
    .returning()
  if (!task) return false
  const rows = await tx
    .update(actionsJobs)
    .set({ status: 'completed', conclusion, error: error ?? null, completedAt: now, updatedAt: now })
    .where(and(eq(actionsJobs.taskId, taskId), eq(actionsJobs.status, 'in_progress')))
    .returning()
  await announce(at, rows, task)
  await wakeFollowers(tx, taskId)
  return true
}

/** queued → blocked: others of its concurrency group are first. The run is locked. */
export async function holdRun({ tx, place, now }: Transition): Promise<void> {
  await tx
    .update(actionsRuns)
    .set({ status: 'blocked', updatedAt: now })
    .where(and(eq(actionsRuns.id, place.run.id), eq(actionsRuns.status, 'queued')))
}

/** blocked → queued: it is its turn. The run is locked. */
export async function admitRun({ tx, place, now }: Transition): Promise<void> {
  await tx
    .update(actionsRuns)
    .set({ status: 'queued', updatedAt: now })
    .where(and(eq(actionsRuns.id, place.run.id), eq(actionsRuns.status, 'blocked')))
}

/** blocked, queued, in_progress → completed, once all its jobs have ended. The run is locked. */
export async function endRun({ tx, place, now }: Transition, { conclusion, error }: End): Promise<void> {
  const [row] = await tx
    .update(actionsRuns)
    .set({ status: 'completed', conclusion, error: error ?? null, completedAt: now, updatedAt: now })
    .where(and(eq(actionsRuns.id, place.run.id), inArray(actionsRuns.status, ['blocked', 'queued', 'in_progress'])))
    .returning(toldRunColumns)
  if (row) await tellOfRun(tx, place, 'workflow_run.completed', row)
}

/** Somebody wants it to end: the next plan says which jobs do. Locks the run. */
export async function cancelRun({ tx, place, now }: Transition): Promise<void> {
  await tx.update(actionsRuns).set({ isCancelled: true, updatedAt: now }).where(eq(actionsRuns.id, place.run.id))
  await changePlan(tx, place.run.id)
}

/** completed → queued, in another attempt, with what it knows of attempts. The run is locked, and its jobs are reset already. */
export async function restartRun(
  { tx, place, now }: Transition,
  { id, attempt, github, error }: ActionsRunRow,
  by: UserRow,
): Promise<void> {
  const [row] = await tx
    .update(actionsRuns)
    .set({
      ...{ status: 'queued', conclusion: null, error: null, isCancelled: false, startedAt: null, completedAt: null },
      ...{ attempt: attempt + 1, triggerActorId: by.id, updatedAt: now },
      github: { ...github, run_attempt: String(attempt + 1), triggering_actor: by.name },
    })
    .where(and(eq(actionsRuns.id, id), eq(actionsRuns.status, 'completed')))
    .returning(toldRunColumns)
  if (row) await tellOfRun(tx, place, 'workflow_run.requested', row)
  if (error !== null) await writeForgottenProblem(tx, place, now)
  await changePlan(tx, id)
}

/** completed → blocked: jobs that run again wait for the next plan. What runners made of them before stays with their tasks. */
export async function resetJobs(at: Transition, ids: readonly number[], runAttempt: number): Promise<void> {
  const rows = await at.tx
    .update(actionsJobs)
    .set({
      ...{ status: 'blocked', conclusion: null, error: null, isCancelled: false, startedAt: null, completedAt: null },
      ...{ taskId: null, plan: null, payload: null, runAttempt, updatedAt: at.now },
    })
    .where(and(anyOf(actionsJobs.id, ids), eq(actionsJobs.status, 'completed')))
    .returning()
  await announce(at, rows)
}

/** Locks the run, makes plans that were made of what it was before worthless, and asks for another. */
export async function changePlan(tx: Db, runId: number): Promise<void> {
  await tx
    .update(actionsRuns)
    .set({ revision: sql`${actionsRuns.revision} + 1` })
    .where(eq(actionsRuns.id, runId))
  await planAgain(tx, runId)
}

/** One for each run waits, and one runs. */
export const planAgain = (tx: Db, runId: number): Promise<void> => planAllAgain(tx, [runId])

/** The same of many, in one statement: a line may be as long as people make it. */
export async function planAllAgain(tx: Db, runIds: readonly number[]): Promise<void> {
  if (runIds.length === 0) return
  const specs = runIds.map((runId) => {
    const name = `actions:run:${runId}`
    return { payload: { runId }, queue: name, key: name }
  })
  await enqueueJobs(tx, 'actions.advance', specs)
}

async function announce(
  { tx, place, now }: Transition,
  jobs: readonly ActionsJobRow[],
  task?: ActionsTaskRow,
): Promise<void> {
  await writeJobStatuses(tx, place, jobs, now)
  await tellOfJobs(tx, place, jobs, task)
  if (jobs.some(({ status }) => status === 'queued'))
    await tx.execute(sql`select pg_notify(${QUEUED_CHANNEL}::text, '')`)
}
