import type { Scope } from './expression.ts'
import type { Instance } from './instances.ts'
import type { Job } from './model.ts'
import type { FinishedJob, JobIdentity, ReadyJob } from './plan-model.ts'
import type { FileScope } from './plan-scope.ts'
import { limitPermissions } from './read-permissions.ts'
import { evaluateFlag, evaluateRunsOn, evaluateTimeout } from './settings.ts'
import { evaluateText } from './template.ts'

interface ReadyScope {
  identity: JobIdentity
  needed: Record<string, FinishedJob>
  scope: Scope
  file: FileScope
}

/** @throws WorkflowError by the first setting that is wrong */
export function makeReady(
  job: Job,
  { strategy, matrix }: Instance,
  { identity, needed, scope, file }: ReadyScope,
): ReadyJob {
  return {
    ...identity,
    state: 'ready',
    ...evaluateRunsOn(job.runsOn, scope),
    matrix,
    strategy,
    timeoutMinutes: evaluateTimeout(job, scope),
    continueOnError: evaluateFlag(job.continueOnError, 'continue-on-error', scope) ?? false,
    environment: job.environment === undefined ? undefined : evaluateText(job.environment, scope) || undefined,
    permissions: limitPermissions(job.permissions ?? file.workflow.permissions, file.ceiling),
    concurrency: file.concurrency,
    inputs: file.inputs,
    isCalled: file.callers.length > 0,
    secrets: file.secrets,
    needed,
  }
}
