import type { ActionsConclusion, ActionsJobRow } from '../../../db/schema/actions.ts'
import type { PlannedJob, ReadyJob } from '../../actions/workflows/plan-model.ts'

/** What a plan makes of one job. */
export type Step =
  | { to: 'blocked' }
  | { to: 'queued'; ready: ReadyJob }
  | { to: 'completed'; conclusion: ActionsConclusion; error?: string }

export interface PlannedStep {
  planned: PlannedJob
  position: number
  /** Undefined: the job is new. */
  row: ActionsJobRow | undefined
  step: Step
}

export interface Difference {
  /** In the order of the plan; jobs that are queued, run or have ended already are left out. */
  steps: PlannedStep[]
  /** Queued or running jobs that are to end: of a matrix of which one failed, of a run that was cancelled, ousted by others of a group. */
  unwanted: ActionsJobRow[]
  /** Blocked rows that the plan no longer has, and that no runner ever had. */
  gone: ActionsJobRow[]
  /** The same of those that one had in an earlier attempt: their logs stay. */
  forgone: ActionsJobRow[]
}

/** The jobs of one matrix have the same. */
export const groupOf = ({ key }: { key: string }): string => key.replace(/\[\d+\]$/, '')

/** What is to be written so that the rows of a run are what its plan says. */
export function compare(
  plan: readonly PlannedJob[],
  rows: readonly ActionsJobRow[],
  { isCancelled, attempt, ousted = [] }: { isCancelled: boolean; attempt: number; ousted?: readonly string[] },
): Difference {
  const byKey = new Map(rows.map((row) => [row.key, row]))
  const failed = new Set(rows.filter((row) => hasFailed(row) && row.runAttempt === attempt).map(groupOf))
  const running = new Map<string, number>()
  for (const row of rows.filter(isOpen)) count(running, groupOf(row))
  const steps: PlannedStep[] = []
  for (const [position, planned] of plan.entries()) {
    const row = byKey.get(planned.key)
    if (planned.state === 'finished' || (row && row.status !== 'blocked')) continue
    const step = stepOf(planned, { failed, running, isCancelled, ousted })
    if (step.to === 'queued') count(running, groupOf(planned))
    steps.push({ planned, position, row, step })
  }
  const wanted = new Set(plan.filter(({ state }) => state === 'ready').map(({ key }) => key))
  const isUnwanted = (row: ActionsJobRow): boolean =>
    (row.plan?.failFast === true && failed.has(groupOf(row))) ||
    (isCancelled && !wanted.has(row.key)) ||
    ousted.some((holder) => isOfHolder(row, holder))
  const missing = rows.filter((row) => isMissing(row, plan))
  return {
    steps,
    unwanted: rows.filter((row) => isOpen(row) && isUnwanted(row)),
    gone: missing.filter((row) => row.attempt === 0),
    forgone: missing.filter((row) => row.attempt > 0),
  }
}

/** Neither the plan has it, nor, if it is of an earlier attempt, a blocked job that may come to stand for it again. */
function isMissing({ status, key, attempt }: ActionsJobRow, plan: readonly PlannedJob[]): boolean {
  if (status !== 'blocked' || plan.some((planned) => planned.key === key)) return false
  const standsFor = (whole: string) => key.startsWith(`${whole}[`) || key.startsWith(`${whole}/`)
  return attempt === 0 || !plan.some((planned) => planned.state === 'blocked' && standsFor(planned.key))
}

/** The job itself, or those of the workflow that it calls. All are the run's. */
export const isOfHolder = ({ key }: { key: string }, holder: string): boolean =>
  holder === '' || key === holder || key.startsWith(`${holder}/`)

/** Queued or at work. */
export const isOpen = ({ status }: ActionsJobRow): boolean => status === 'queued' || status === 'in_progress'

const hasFailed = ({ conclusion, plan }: ActionsJobRow): boolean => conclusion === 'failure' && !plan?.continueOnError

const count = (numbers: Map<string, number>, group: string) => numbers.set(group, (numbers.get(group) ?? 0) + 1)

interface Scope {
  /** Groups of which a job failed. */
  failed: ReadonlySet<string>
  /** Jobs of each group that are queued or run. */
  running: ReadonlyMap<string, number>
  isCancelled: boolean
  /** Keys of jobs whose turn in a group a newer one wants. */
  ousted: readonly string[]
}

function stepOf(planned: Exclude<PlannedJob, { state: 'finished' }>, scope: Scope): Step {
  const { failed, running, isCancelled, ousted } = scope
  switch (planned.state) {
    case 'blocked':
      return { to: 'blocked' }
    case 'skipped':
      return { to: 'completed', conclusion: isCancelled ? 'cancelled' : 'skipped' }
    case 'invalid':
      return { to: 'completed', conclusion: 'failure', error: planned.problem.message }
    case 'ready': {
      const { failFast, maxParallel } = planned.strategy
      if ((failFast && failed.has(groupOf(planned))) || ousted.some((holder) => isOfHolder(planned, holder)))
        return { to: 'completed', conclusion: 'cancelled' }
      const isFull = maxParallel !== undefined && (running.get(groupOf(planned)) ?? 0) >= maxParallel
      return isFull ? { to: 'blocked' } : { to: 'queued', ready: planned }
    }
  }
}

/** What has become of a run whose jobs have all ended. */
export function concludeRun(
  jobs: readonly ActionsJobRow[],
  { isCancelled }: { isCancelled: boolean },
): ActionsConclusion {
  if (isCancelled) return 'cancelled'
  if (jobs.some(hasFailed)) return 'failure'
  const all = new Set(jobs.map(({ conclusion }) => conclusion))
  if (all.has('cancelled')) return 'cancelled'
  return all.has('success') || all.has('failure') ? 'success' : 'skipped'
}
