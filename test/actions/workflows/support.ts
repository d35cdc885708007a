import type { JsonRecord } from '../../../src/actions/workflows/json.ts'
import type { Workflow } from '../../../src/actions/workflows/model.ts'
import { planJobs } from '../../../src/actions/workflows/plan.ts'
import type {
  FinishedJob,
  Plan,
  PlanContexts,
  PlannedJob,
  ReadyJob,
} from '../../../src/actions/workflows/plan-model.ts'
import { readWorkflow } from '../../../src/actions/workflows/read.ts'

export const PATH = '.gitea/workflows/ci.yml'

/** Of a file that has to be right. */
export async function read(text: string, path = PATH): Promise<Workflow> {
  const { workflow, errors } = await readWorkflow(text, { path })
  if (!workflow) throw new Error(JSON.stringify(errors))
  return workflow
}

/** What is wrong with a file, each as `line:column message`. */
export async function faultsOf(text: string): Promise<string[]> {
  const { errors = [] } = await readWorkflow(text, { path: PATH })
  return errors.map(({ line, column, message }) => `${line}:${column} ${message}`)
}

export const GITHUB: JsonRecord = {
  ref: 'refs/heads/main',
  ref_name: 'main',
  event_name: 'push',
  actor: 'octocat',
  event: { head_commit: { message: 'Say hi' } },
}

export const contexts = (more: Partial<PlanContexts> = {}): PlanContexts => ({
  github: GITHUB,
  vars: {},
  inputs: {},
  finished: {},
  open: [],
  isCancelled: false,
  ...more,
})

export async function planOf(
  text: string,
  more: Partial<PlanContexts> = {},
  called: Record<string, Workflow> = {},
): Promise<Plan> {
  const { plan, errors } = planJobs({ workflow: await read(text), called }, contexts(more))
  if (!plan) throw new Error(JSON.stringify(errors))
  return plan
}

/** `key: state`, with the reason where a job is invalid. */
export const statesOf = ({ jobs }: Plan): string[] =>
  jobs.map((job) => `${job.key}: ${job.state === 'invalid' ? job.problem.message : job.state}`)

export const namesOf = ({ jobs }: Plan): string[] => jobs.map(({ name }) => name)

export function readyJob({ jobs }: Plan, key: string): ReadyJob {
  const job = jobs.find((one: PlannedJob) => one.key === key)
  if (job?.state !== 'ready') throw new Error(`${key} is not ready: ${JSON.stringify(job)}`)
  return job
}

export const ended = (result: FinishedJob['result'], outputs: Record<string, string> = {}): FinishedJob => ({
  result,
  outputs,
})

/** A workflow of these jobs, each line of which is indented once. */
export const withJobs = (jobs: string): string => `on: push\njobs:\n${jobs}`
