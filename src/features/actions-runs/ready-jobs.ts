import type { ActionsJobPlan } from '../../../db/schema/actions.ts'
import type { Workflow } from '../../actions/workflows/model.ts'
import type { ReadyJob, WorkflowFamily } from '../../actions/workflows/plan-model.ts'
import type { Context } from '../../context.ts'
import { type Difference, groupOf, type PlannedStep } from './difference.ts'

export interface DescribedStep extends PlannedStep {
  /** Of jobs that are to be queued: what their runners get, and what is kept of their plan. */
  work?: { plan: ActionsJobPlan; payload: string } | undefined
}

export interface DescribedDifference extends Difference {
  steps: DescribedStep[]
}

/** Writes the workflows of the jobs that are ready. It takes time, so no transaction waits for it. */
export async function describeJobs(
  { workflows }: Pick<Context, 'workflows'>,
  family: WorkflowFamily,
  difference: Difference,
): Promise<DescribedDifference> {
  const described: DescribedStep[] = []
  for (const one of difference.steps) {
    if (one.step.to !== 'queued') {
      described.push(one)
      continue
    }
    const { ready } = one.step
    const workflow = fileOf(family, ready.path)
    described.push({
      ...one,
      work: { plan: planOf(workflow, ready), payload: await workflows.writePayload(workflow, ready) },
    })
  }
  return { ...difference, steps: described }
}

function fileOf({ workflow, called }: WorkflowFamily, path: string): Workflow {
  const file = path === workflow.path ? workflow : called[path]
  if (!file) throw new Error(`the plan names ${path}, which is no file of the run`)
  return file
}

const planOf = (workflow: Workflow, job: ReadyJob): ActionsJobPlan => ({
  id: job.id,
  group: groupOf(job),
  failFast: job.strategy.failFast,
  maxParallel: job.strategy.maxParallel ?? null,
  timeoutMinutes: job.timeoutMinutes,
  continueOnError: job.continueOnError,
  permissions: job.permissions ?? null,
  secrets: job.secrets,
  callInputs: job.isCalled ? job.inputs : null,
  needs: job.needed,
  steps: workflow.jobs.find(({ id }) => id === job.id)?.steps.map(({ title }) => title) ?? [],
})
