import type { ActionsJobRow } from '../../../db/schema/actions.ts'
import { readFamily } from '../../actions/workflows/family.ts'
import type { FinishedJob } from '../../actions/workflows/plan-model.ts'
import type { Context } from '../../context.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { applyDifference, failRun, followJobs } from './apply.ts'
import { compare } from './difference.ts'
import { placeOf } from './place.ts'
import { type DescribedDifference, describeJobs } from './ready-jobs.ts'
import { type JobWithOutputs, type LoadedRun, loadJobs, loadRun, lockRun } from './store.ts'

export const runHandlers: Pick<JobHandlers, 'actions.advance'> = {
  'actions.advance': (context, { runId }) => advanceRun(context, runId),
}

/** Plans a run again, and writes what that changes. Once more changes nothing. */
export async function advanceRun(context: Context, runId: number): Promise<void> {
  const { db } = context
  const loaded = await loadRun(db, runId)
  if (!loaded || loaded.run.status === 'completed' || loaded.run.status === 'blocked') return
  const { run } = loaded
  const jobs = await loadJobs(db, runId)
  const rows = jobs.map(({ job }) => job)
  const planned = await planRun(context, loaded, { rows, finished: finishedOf(jobs) })
  await db.transaction(async (tx) => {
    // Who has moved the run on meanwhile has asked for another plan.
    if (!(await lockRun(tx, runId, run.revision))) return
    const at = { tx, place: placeOf(context, loaded), now: context.clock.now() }
    if (planned.error !== undefined) return failRun(at, rows, planned.error)
    await applyDifference(at, planned.difference)
    await followJobs(at, run)
  })
}

type PlannedRun = { difference: DescribedDifference; error?: undefined } | { error: string }

/** The texts were read when the run was made, so an error here is of another version of this program, or of too much work. */
async function planRun(
  context: Context,
  { run }: LoadedRun,
  { rows, finished }: { rows: readonly ActionsJobRow[]; finished: Record<string, FinishedJob> },
): Promise<PlannedRun> {
  const { workflows } = context
  const readOne = async (path: string) => {
    const text = Object.hasOwn(run.files, path) ? run.files[path] : undefined
    return text === undefined ? undefined : workflows.read(text, path)
  }
  const own = await readOne(run.workflowPath)
  if (!own?.workflow) return { error: own?.errors?.[0]?.message ?? `${run.workflowPath} is missing.` }
  const { family, errors } = await readFamily(own.workflow, readOne)
  if (!family) return { error: errors[0]?.message ?? 'A called workflow cannot be read.' }
  const { github, vars, inputs, isCancelled } = run
  const planned = await workflows.plan(family, { github, vars, inputs, isCancelled, finished })
  if (!planned.plan) return { error: planned.errors[0]?.message ?? 'The run cannot be planned.' }
  return { difference: await describeJobs(context, family, compare(planned.plan.jobs, rows, run)) }
}

function finishedOf(jobs: readonly JobWithOutputs[]): Record<string, FinishedJob> {
  const ended = jobs.flatMap(({ job: { key, conclusion, plan }, outputs }): [string, FinishedJob][] => {
    if (conclusion === null) return []
    const result = conclusion === 'failure' && plan?.continueOnError ? 'success' : conclusion
    return [[key, { result, outputs: outputs ?? {} }]]
  })
  return Object.fromEntries(ended)
}
