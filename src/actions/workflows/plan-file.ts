import { enterCall, leaveCall } from './call.ts'
import { evaluate, isTruthy, type Scope } from './expression.ts'
import { expandInstances, type Instance, identify, wholeOf, withMatrix } from './instances.ts'
import { MAX_RUN_JOBS } from './limits.ts'
import type { Job } from './model.ts'
import { ancestorsOf, combineOutcomes, type Outcomes, statusFunctions } from './outcome.ts'
import type { FinishedJob, JobIdentity, PlannedJob } from './plan-model.ts'
import { contextsOf, type FileScope, holdGroup, needsContext } from './plan-scope.ts'
import { problemOf, WorkflowError } from './problems.ts'
import { makeReady } from './ready.ts'
import { evaluateConcurrency, evaluateStrategy, tellLabels } from './settings.ts'
import { mentionsNeeds } from './template.ts'

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
  if (all.length > MAX_RUN_JOBS) throw new WorkflowError(`The run has more than ${MAX_RUN_JOBS} jobs.`)
  return { jobs: all, outcomes, isFinished: outcomes.size === jobs.size }
}

interface JobScope {
  file: FileScope
  jobs: ReadonlyMap<string, Job>
  outcomes: Outcomes
}

function planJob(job: Job, { file, jobs, outcomes }: JobScope): Planned {
  const whole = wholeOf(job, file)
  const unnamed = identify(job, whole, file, undefined)
  const finished = file.run.finished[whole.key]
  if (finished) return finish(unnamed, finished)
  const needs = needsContext(job.needs, outcomes)
  const scope: Scope = { contexts: contextsOf(file, { needs }), functions: [], budget: file.run.budget }
  try {
    if (job.needs.some((id) => !outcomes.has(id))) return { jobs: listBlocked(job, file, scope) }
    const isWanted = isTruthy(
      evaluate(job.condition, { ...scope, functions: functionsFor(job, { file, jobs, outcomes }) }),
    )
    // A matrix of a job that is skipped may be made of outputs that do not exist.
    const isKnown = isWanted || !mentionsNeeds(job.source.strategy) || hasBegun(`${whole.key}[`, file)
    const instances = isKnown ? expandInstances(job, file, evaluateStrategy(job.strategy, scope)) : [whole]
    const needed = Object.fromEntries(job.needs.flatMap((id) => pairOf(id, outcomes)))
    return combine(instances.map((instance) => planInstance(job, instance, { file, scope, isWanted, needed })))
  } catch (error) {
    return invalid(unnamed, error)
  }
}

function pairOf(id: string, outcomes: Outcomes): [string, FinishedJob][] {
  const outcome = outcomes.get(id)
  return outcome ? [[id, outcome]] : []
}

function functionsFor(job: Job, { file, jobs, outcomes }: JobScope): Scope['functions'] {
  const results = ancestorsOf(job, jobs).flatMap((id) => {
    const result = outcomes.get(id)?.result
    return result ? [[id, result] as const] : []
  })
  return statusFunctions(new Map(results), file.run.isCancelled)
}

/** Its parts are listed already, unless they depend on results. */
function listBlocked(job: Job, file: FileScope, scope: Scope): PlannedJob[] {
  if (job.call || mentionsNeeds(job.source.strategy))
    return [{ ...identify(job, wholeOf(job, file), file, undefined), state: 'blocked', labels: [] }]
  return expandInstances(job, file, evaluateStrategy(job.strategy, scope)).map((instance) => {
    const known = withMatrix(scope, instance)
    const identity = identify(job, instance, file, mentionsNeeds(job.name) ? undefined : known)
    return { ...identity, state: 'blocked', labels: tellLabels(job.runsOn, known) }
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

const skip = (identity: JobIdentity, labels: string[]): Planned => ({
  jobs: [{ ...identity, state: 'skipped', labels }],
  outcome: { result: 'skipped', ...NOTHING },
})

const invalid = (identity: JobIdentity, error: unknown): Planned => ({
  jobs: [{ ...identity, state: 'invalid', problem: problemOf(error, identity.at) }],
  outcome: { result: 'failure', ...NOTHING },
})

interface InstanceScope {
  file: FileScope
  scope: Scope
  /** By its `if`. */
  isWanted: boolean
  needed: Record<string, FinishedJob>
}

function planInstance(job: Job, instance: Instance, { file, scope, isWanted, needed }: InstanceScope): Planned {
  const unnamed = identify(job, instance, file, undefined)
  const finished = file.run.finished[instance.key]
  if (finished) return finish(unnamed, finished)
  try {
    const own = withMatrix(scope, instance)
    const identity = identify(job, instance, file, own)
    const isEntered = job.call !== undefined && hasBegun(`${instance.key}/`, file)
    if (!isWanted && !isEntered) {
      const skipped = skip(identity, tellLabels(job.runsOn, own))
      return file.run.open.has(instance.key) ? { jobs: skipped.jobs } : skipped
    }
    const held = job.concurrency ? holdGroup(file, evaluateConcurrency(job.concurrency, instance.key, own)) : file
    if (job.call) return planCalled(enterCall({ call: job.call, job, identity, scope: own, file: held }), own)
    return { jobs: [makeReady(job, instance, { identity, needed, scope: own, file: held })] }
  } catch (error) {
    return invalid(unnamed, error)
  }
}

/** Whether something with such a key is open or finished. */
const hasBegun = (prefix: string, { run }: FileScope): boolean => run.begun.some((key) => key.startsWith(prefix))

function planCalled(file: FileScope, scope: Scope): Planned {
  const { jobs, outcomes, isFinished } = planFile(file)
  return { jobs, outcome: isFinished ? leaveCall(file, outcomes, scope) : undefined }
}
