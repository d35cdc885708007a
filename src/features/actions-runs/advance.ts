import type { ActionsJobRow } from '../../../db/schema/actions.ts'
import type { FinishedJob } from '../../actions/workflows/plan-model.ts'
import type { Context } from '../../context.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { endUnbegun, failRun } from './apply.ts'
import { compare, isOpen } from './difference.ts'
import { placeOf } from './place.ts'
import { describeJobs } from './ready-jobs.ts'
import { readRunFamily } from './run-family.ts'
import { type JobWithOutputs, type LoadedRun, loadJobs, loadRun, lockRun } from './store.ts'
import { cancelRun } from './transitions.ts'
import { listTurns } from './turns.ts'
import { type DescribedPlan, writePlan } from './write-plan.ts'

export const runHandlers: Pick<JobHandlers, 'actions.advance'> = {
  'actions.advance': (context, { runId }) => advanceRun(context, runId),
}

/** Plans a run again, and writes what that changes. Once more changes nothing. */
export async function advanceRun(context: Context, runId: number): Promise<void> {
  const { db } = context
  const loaded = await loadRun(db, runId)
  if (!loaded || loaded.run.status === 'completed') return
  const { run } = loaded
  const jobs = await loadJobs(db, runId)
  const rows = jobs.map(({ job }) => job)
  const holders = (await listTurns(db, runId)).filter((turn) => turn.isOusted).map(({ holder }) => holder)
  const ousted = holders.filter((holder) => holder !== '')
  const isOusted = holders.length > ousted.length && !run.isCancelled
  const isUnbegun = run.status === 'blocked' && run.isCancelled
  const planned =
    isOusted || isUnbegun ? undefined : await planRun(context, loaded, { rows, ousted, finished: finishedOf(jobs) })
  await db.transaction(async (tx) => {
    // Who has moved the run on meanwhile has asked for another plan.
    if (!(await lockRun(tx, runId, run.revision))) return
    const at = { tx, place: placeOf(context, loaded), now: context.clock.now() }
    if (planned?.error !== undefined) return failRun(at, rows, planned.error)
    if (planned) return writePlan(at, run, planned)
    return isOusted ? cancelRun(at) : endUnbegun(at, run, rows)
  })
}

type PlannedRun = (DescribedPlan & { error?: undefined }) | { error: string }

interface Known {
  rows: readonly ActionsJobRow[]
  /** Keys of jobs whose turn a newer one wants. */
  ousted: readonly string[]
  finished: Record<string, FinishedJob>
}

async function planRun(context: Context, { run }: LoadedRun, { rows, ousted, finished }: Known): Promise<PlannedRun> {
  const { family, error } = await readRunFamily(context, run)
  if (!family) return { error }
  const { github, vars, inputs, isCancelled } = run
  const open = rows.filter(isOpen).map(({ key }) => key)
  const planned = await context.workflows.plan(family, { github, vars, inputs, isCancelled, finished, open })
  if (!planned.plan) return { error: planned.errors[0]?.message ?? 'The run cannot be planned.' }
  const { jobs, concurrency } = planned.plan
  const { attempt } = run
  const difference = compare(jobs, rows, { isCancelled, attempt, ousted })
  return { difference: await describeJobs(context, family, difference), concurrency }
}

function finishedOf(jobs: readonly JobWithOutputs[]): Record<string, FinishedJob> {
  const ended = jobs.flatMap(({ job: { key, conclusion, plan }, outputs }): [string, FinishedJob][] => {
    if (conclusion === null) return []
    const result = conclusion === 'failure' && plan?.continueOnError ? 'success' : conclusion
    return [[key, { result, outputs: outputs ?? {} }]]
  })
  return Object.fromEntries(ended)
}
