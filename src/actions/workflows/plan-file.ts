import { enterCall, leaveCall } from './call.ts'
import { evaluate, isTruthy, type Scope } from './expression.ts'
import { describeFault, WorkflowFault } from './faults.ts'
import { expandInstances, type Instance, identify, wholeOf } from './instances.ts'
import type { JsonRecord } from './json.ts'
import { MAX_RUN_JOBS } from './limits.ts'
import type { Job } from './model.ts'
import { ancestorsOf, combineOutcomes, type Outcomes, statusFunctions } from './outcome.ts'
import type { FinishedJob, JobIdentity, PlannedJob, ReadyJob } from './plan-model.ts'
import { contextsOf, type FileScope, needsContext } from './plan-scope.ts'
import { limitPermissions } from './read-permissions.ts'
import { evaluateConcurrency, evaluateFlag, evaluateRunsOn, evaluateStrategy, evaluateTimeout } from './settings.ts'
import { evaluateText, mentionsNeeds } from './template.ts'

export interface PlannedFile {
  jobs: PlannedJob[]
  outcomes: Outcomes
  /** All jobs have ended. */
  isFinished: boolean
}

/** What is planned of a job or of a part of it, and what has become of it if it has ended. */
export interface Planned {
  jobs: PlannedJob[]
  outcome?: FinishedJob | undefined
}

/** Plans the jobs of one file, each after those that it needs, and lists them in the order of the file. */
export function planFile(file: FileScope): PlannedFile {
  const jobs = new Map(file.workflow.jobs.map((job) => [job.id, job]))
  const outcomes = new Map<string, FinishedJob>()
  const planned = new Map<string, PlannedJob[]>()
  const plan = (job: Job): void => {
    if (planned.has(job.id)) return
    for (const id of job.needs) {
      const needed = jobs.get(id)
      if (needed) plan(needed)
    }
    const result = planJob(job, { file, jobs, outcomes })
    planned.set(job.id, result.jobs)
    if (result.outcome) outcomes.set(job.id, result.outcome)
  }
  for (const job of file.workflow.jobs) plan(job)
  const all = file.workflow.jobs.flatMap(({ id }) => planned.get(id) ?? [])
  if (all.length > MAX_RUN_JOBS) throw new WorkflowFault(`The run has more than ${MAX_RUN_JOBS} jobs.`)
  return { jobs: all, outcomes, isFinished: outcomes.size === jobs.size }
}

interface JobScope {
  file: FileScope
  jobs: ReadonlyMap<string, Job>
  outcomes: Outcomes
}

function planJob(job: Job, { file, jobs, outcomes }: JobScope): Planned {
  const whole = file.run.finished[wholeOf(job, file).key]
  if (whole) return combine([finish(identify(job, wholeOf(job, file), file, undefined), whole)])
  const isBlocked = job.needs.some((id) => !outcomes.has(id))
  const scope: Scope = {
    contexts: contextsOf(file, { needs: needsContext(job.needs, outcomes) }),
    functions: [],
    budget: file.run.budget,
  }
  try {
    if (isBlocked) return { jobs: listBlocked(job, file, scope) }
    const results = ancestorsOf(job, jobs).flatMap((id) => {
      const result = outcomes.get(id)?.result
      return result ? [[id, result] as const] : []
    })
    const functions = statusFunctions(new Map(results), file.run.isCancelled)
    const isWanted = isTruthy(evaluate(job.condition, { ...scope, functions }))
    // A matrix of a job that is skipped may be made of outputs that do not exist.
    const instances =
      isWanted || !mentionsNeeds(job.source.strategy) ? expandInstances(job, file, scope) : [wholeOf(job, file)]
    return combine(instances.map((instance) => planInstance(job, instance, { file, outcomes, isWanted })))
  } catch (error) {
    return invalid(identify(job, wholeOf(job, file), file, undefined), error)
  }
}

/** Its parts are listed already, unless they depend on results. */
function listBlocked(job: Job, file: FileScope, scope: Scope): PlannedJob[] {
  const isKnown = !mentionsNeeds(job.source.strategy) && job.call === undefined
  const instances = isKnown ? expandInstances(job, file, scope) : [wholeOf(job, file)]
  return instances.map((instance) => {
    const named =
      isKnown && !mentionsNeeds(job.name) ? withMatrix(scope, { file, job, instance, needs: {} }) : undefined
    return { ...identify(job, instance, file, named), state: 'blocked' }
  })
}

function combine(parts: readonly Planned[]): Planned {
  const jobs = parts.flatMap((part) => part.jobs)
  const outcomes = parts.flatMap(({ outcome }) => (outcome ? [outcome] : []))
  return { jobs, outcome: outcomes.length === parts.length ? combineOutcomes(outcomes) : undefined }
}

const finish = (identity: JobIdentity, outcome: FinishedJob): Planned => ({
  jobs: [{ ...identity, state: 'finished', result: outcome.result }],
  outcome,
})

const NOTHING = { outputs: {} }

const invalid = (identity: JobIdentity, error: unknown): Planned => ({
  jobs: [{ ...identity, state: 'invalid', fault: describeFault(error, identity.at) }],
  outcome: { result: 'failure', ...NOTHING },
})

interface InstanceScope {
  file: FileScope
  outcomes: Outcomes
  /** By its `if`. */
  isWanted: boolean
}

function planInstance(job: Job, instance: Instance, { file, outcomes, isWanted }: InstanceScope): Planned {
  const needs = needsContext(job.needs, outcomes)
  const bare: Scope = { contexts: contextsOf(file, { needs }), functions: [], budget: file.run.budget }
  const unnamed = identify(job, instance, file, undefined)
  try {
    const scope = withMatrix(bare, { file, job, instance, needs })
    const identity = identify(job, instance, file, scope)
    const finished = file.run.finished[instance.key]
    if (finished) return finish(identity, finished)
    if (!isWanted) return { jobs: [{ ...identity, state: 'skipped' }], outcome: { result: 'skipped', ...NOTHING } }
    const concurrency = job.concurrency ? [evaluateConcurrency(job.concurrency, instance.key, scope)] : []
    const held = { ...file, concurrency: [...file.concurrency, ...concurrency] }
    if (job.call) return planCalled(enterCall({ call: job.call, job, identity, scope, file: held }), scope)
    return { jobs: [makeReady(job, instance, { identity, scope, file: held })] }
  } catch (error) {
    return invalid(unnamed, error)
  }
}

function planCalled(file: FileScope, scope: Scope): Planned {
  const { jobs, outcomes, isFinished } = planFile(file)
  return { jobs, outcome: isFinished ? leaveCall(file, outcomes, scope) : undefined }
}

/** With the contexts `strategy` and `matrix` of one combination. */
function withMatrix(scope: Scope, { file, job, instance, needs }: MatrixPlace): Scope {
  const { failFast, maxParallel } = evaluateStrategy(job.strategy, scope)
  const { index, total, matrix } = instance
  const strategy = {
    'fail-fast': failFast,
    'job-index': index,
    'job-total': total,
    'max-parallel': maxParallel ?? total,
  }
  return { ...scope, contexts: contextsOf(file, { needs, strategy, matrix: matrix ?? null }) }
}

interface MatrixPlace {
  file: FileScope
  job: Job
  instance: Instance
  needs: JsonRecord
}

interface ReadyScope {
  identity: JobIdentity
  scope: Scope
  file: FileScope
}

function makeReady(job: Job, { index, total, matrix }: Instance, { identity, scope, file }: ReadyScope): ReadyJob {
  return {
    ...identity,
    state: 'ready',
    ...evaluateRunsOn(job.runsOn, scope),
    matrix,
    strategy: { ...evaluateStrategy(job.strategy, scope), index, total },
    timeoutMinutes: evaluateTimeout(job, scope),
    continueOnError: evaluateFlag(job.continueOnError, 'continue-on-error', scope) ?? false,
    environment: job.environment === undefined ? undefined : evaluateText(job.environment, scope) || undefined,
    permissions: limitPermissions(job.permissions ?? file.workflow.permissions, file.ceiling),
    concurrency: file.concurrency,
    inputs: file.inputs,
    isCalled: file.callers.length > 0,
    secrets: file.secrets,
  }
}
