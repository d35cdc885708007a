import { eq } from 'drizzle-orm'
import { type ActionsJobRow, type ActionsRunRow, actionsJobs } from '../../../db/schema/actions.ts'
import { concludeRun, isOfHolder, type PlannedStep } from './difference.ts'
import type { DescribedDifference, DescribedStep } from './ready-jobs.ts'
import {
  cancelRunningJobs,
  describeBlocked,
  endRun,
  endWaitingJobs,
  insertJobs,
  type NewJob,
  planAgain,
  queueJob,
  removeBlockedJobs,
  reportProblem,
  restRun,
  startRun,
  type Transition,
} from './transitions.ts'
import { holdLinesOf, leaveTurns, listTurns, wakeRuns } from './turns.ts'

/** Writes the difference between a plan and its rows. The run is locked. */
export async function applyDifference(
  at: Transition,
  { steps, unwanted, gone, forgone }: DescribedDifference,
): Promise<void> {
  // First: the jobs in their place may have the same name, and the newest status counts.
  await removeBlockedJobs(at, idsOf(gone))
  await insertJobs(
    at,
    steps.filter(({ row }) => !row).map((step) => newJob(at, step)),
  )
  for (const { row, work, ...step } of steps) if (row) await changeJob(at, row, { ...step, work })
  await endWaitingJobs(at, idsOf(forgone), { conclusion: 'skipped' })
  const ended = await endWaitingJobs(at, idsOf(unwanted), { conclusion: 'cancelled' })
  // One that a runner has taken meanwhile is no longer among those that wait.
  await cancelRunningJobs(at, idsOf(unwanted))
  // The plan did not know that these end, so what depends on them needs another.
  const isOvertaken =
    ended > 0 || steps.some(({ planned, step }) => planned.state === 'ready' && step.to === 'completed')
  if (isOvertaken) await planAgain(at.tx, at.place.run.id)
}

const idsOf = (rows: readonly ActionsJobRow[]): number[] => rows.map(({ id }) => id)

const describe = ({ planned, position }: Pick<PlannedStep, 'planned' | 'position'>) => ({
  name: planned.name,
  needs: planned.needs,
  position,
  labels: 'labels' in planned ? planned.labels : [],
})

function newJob({ place: { run }, now }: Transition, step: DescribedStep): NewJob {
  const { planned, work, step: to } = step
  const job: NewJob = {
    runId: run.id,
    repositoryId: run.repositoryId,
    key: planned.key,
    runAttempt: run.attempt,
    ...describe(step),
    status: to.to,
    createdAt: now,
    updatedAt: now,
  }
  if (to.to === 'completed') return { ...job, conclusion: to.conclusion, error: to.error ?? null, completedAt: now }
  return { ...job, ...work }
}

async function changeJob(at: Transition, row: ActionsJobRow, step: Omit<DescribedStep, 'row'>): Promise<void> {
  if (step.work) return queueJob(at, row.id, { ...describe(step), ...step.work })
  await describeBlocked(at, row.id, describe(step))
  if (step.step.to === 'completed') await endWaitingJobs(at, [row.id], step.step)
}

/**
 * Brings the run to where its jobs are: at work while one is, over with the last that ended. What has ended gives its turns up. The run is
 * locked, and its lines are held.
 * @param wake other runs that have to be planned again already
 */
export async function followJobs(
  at: Transition,
  run: Pick<ActionsRunRow, 'id' | 'isCancelled'>,
  wake = new Set<number>(),
): Promise<void> {
  const jobs = await at.tx.select().from(actionsJobs).where(eq(actionsJobs.runId, run.id))
  if (jobs.every(({ status }) => status === 'completed')) await endRun(at, { conclusion: concludeRun(jobs, run) })
  else if (jobs.some(({ status }) => status === 'in_progress')) await startRun(at)
  else await restRun(at)
  const isOver = (holder: string) => jobs.every((job) => job.status === 'completed' || !isOfHolder(job, holder))
  const turns = await listTurns(at.tx, run.id)
  await leaveTurns(
    at,
    turns.filter(({ holder }) => isOver(holder)),
    wake,
  )
  await wakeRuns(at.tx, wake)
}

/** Ends a run that has not begun. The run is locked. */
export async function endUnbegun(at: Transition, run: ActionsRunRow, jobs: readonly ActionsJobRow[]): Promise<void> {
  await holdLinesOf(at)
  await endWaitingJobs(at, idsOf(jobs), { conclusion: 'cancelled' })
  await followJobs(at, run)
}

/** Ends a run that cannot be planned. What runs is told to end. The run is locked. */
export async function failRun(at: Transition, jobs: readonly ActionsJobRow[], error: string): Promise<void> {
  const turns = await holdLinesOf(at)
  const wake = new Set<number>()
  await endWaitingJobs(at, idsOf(jobs), { conclusion: 'cancelled' })
  await cancelRunningJobs(at, idsOf(jobs))
  await leaveTurns(at, turns, wake)
  await wakeRuns(at.tx, wake)
  await endRun(at, { conclusion: 'failure', error })
  await reportProblem(at, error)
}
