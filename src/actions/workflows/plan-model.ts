import type { JsonRecord } from './json.ts'
import type { Permissions, Workflow } from './model.ts'
import type { Position, WorkflowProblem } from './problems.ts'

export type JobResult = 'success' | 'failure' | 'cancelled' | 'skipped'

export interface FinishedJob {
  /** As the jobs that need it see it: `success` also for a failed job with `continue-on-error`. */
  result: JobResult
  outputs: Record<string, string>
}

/** What a run knows when it is planned. The same contexts always give the same plan, with the same keys. */
export interface PlanContexts {
  /** The `github` context, which is also `gitea`. */
  github: JsonRecord
  vars: Record<string, string>
  /** Of `workflow_dispatch`, by `readDispatchInputs`. */
  inputs: JsonRecord
  /** What has ended already, by key. */
  finished: Record<string, FinishedJob>
  /** What is queued or runs, by key: whatever its `if` says by now, what depends on it waits. */
  open: readonly string[]
  isCancelled: boolean
}

/** A workflow with all that it calls, by path. */
export interface WorkflowFamily {
  workflow: Workflow
  called: Record<string, Workflow>
}

export interface Plan {
  /** Empty where the workflow says nothing: then the title of the commit names the run. */
  runName: string
  concurrency?: Concurrency | undefined
  jobs: PlannedJob[]
}

export type ReadPlan = { plan: Plan; errors?: undefined } | { plan?: undefined; errors: WorkflowProblem[] }

export interface Concurrency {
  group: string
  cancelInProgress: boolean
  queue: 'single' | 'max'
  /** What holds the place: the key of a job, or of the job that called its workflow; empty for the run. Jobs of one holder share it. */
  holder: string
}

export interface JobIdentity {
  /**
   * Within the run: `build`, `build[1]` in a matrix, `call/build` in a called workflow. A job whose matrix or called workflow is not known
   * yet has one key for all of it; later plans have the others in its place.
   */
  key: string
  id: string
  /** As shown: `build (linux, 18)`, `call / build`. Of finished jobs expressions in it are not evaluated again. */
  name: string
  /** Ids of the same file. */
  needs: string[]
  /** The file that it stands in, and where. */
  path: string
  at: Position
}

/** A job that may run now, with everything that the server has to know. Env, steps and outputs are for the runner to evaluate. */
export interface ReadyJob extends JobIdentity {
  state: 'ready'
  labels: string[]
  /** Of runners. */
  group?: string | undefined
  /** One combination. */
  matrix?: JsonRecord | undefined
  strategy: Strategy
  timeoutMinutes: number
  continueOnError: boolean
  environment?: string | undefined
  /** Undefined: the default of the repository. */
  permissions?: Permissions | undefined
  concurrency: Concurrency[]
  /** The `inputs` context: of the called workflow, or of `workflow_dispatch`. */
  inputs: JsonRecord
  isCalled: boolean
  secrets: PassedSecrets
  /** What has become of the jobs that it names in `needs`. */
  needed: Record<string, FinishedJob>
}

export interface Strategy {
  failFast: boolean
  maxParallel?: number | undefined
  index: number
  total: number
}

/** All of the repository's, or by their upper-case names for the job those of the repository. */
export type PassedSecrets = 'all' | Record<string, string>

/** Wire: jobs show their labels from the start. They are empty where they cannot be told yet. */
export type PlannedJob =
  /** It waits for jobs that it needs. */
  | (JobIdentity & { state: 'blocked'; labels: string[] })
  | (JobIdentity & { state: 'skipped'; labels: string[] })
  /** Its result is among those given. */
  | (JobIdentity & { state: 'finished'; result: JobResult })
  /** It cannot run, and counts as failed. */
  | (JobIdentity & { state: 'invalid'; problem: WorkflowProblem })
  | ReadyJob
