import type { ActionsRunRow } from '../../../db/schema/actions.ts'
import type { Concurrency } from '../../actions/workflows/plan-model.ts'
import { applyDifference, followJobs } from './apply.ts'
import type { DescribedDifference, DescribedStep } from './ready-jobs.ts'
import { admitRun, holdRun, type Transition } from './transitions.ts'
import { holdLines, listTurns, nameOfGroup, takeTurns } from './turns.ts'

export interface DescribedPlan {
  difference: DescribedDifference
  /** Of the whole run. */
  concurrency: Concurrency | undefined
}

/** Writes a plan. What has to wait for its turn in a concurrency group is blocked. The run is locked. */
export async function writePlan(
  at: Transition,
  run: Pick<ActionsRunRow, 'id' | 'isCancelled'>,
  { difference, concurrency }: DescribedPlan,
): Promise<void> {
  const turns = await listTurns(at.tx, run.id)
  const wanted = [concurrency, ...difference.steps.flatMap(concurrencyOf)].filter((one) => one !== undefined)
  await holdLines(at, [...turns.map(({ groupName }) => groupName), ...wanted.map(nameOfGroup)])
  const wake = new Set<number>()
  const isAdmitted = concurrency === undefined || (await takeTurns(at, [concurrency], wake))
  await (isAdmitted ? admitRun(at) : holdRun(at))
  const steps: DescribedStep[] = []
  for (const step of difference.steps) {
    const mayBegin = isAdmitted && (await takeTurns(at, concurrencyOf(step), wake))
    steps.push(mayBegin || step.step.to !== 'queued' ? step : { ...step, step: { to: 'blocked' }, work: undefined })
  }
  await applyDifference(at, { ...difference, steps })
  await followJobs(at, run, wake)
}

const concurrencyOf = ({ step }: DescribedStep): Concurrency[] => (step.to === 'queued' ? step.ready.concurrency : [])
