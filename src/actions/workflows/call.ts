import type { Scope } from './expression.ts'
import { readCallInputs } from './inputs.ts'
import { type JsonRecord, mapRecord, recordOf } from './json.ts'
import { MAX_CALL_DEPTH } from './limits.ts'
import type { Call, CallDefinition, Job, Workflow } from './model.ts'
import { combineOutcomes, type Outcomes } from './outcome.ts'
import type { FinishedJob, JobIdentity, PassedSecrets } from './plan-model.ts'
import { contextsOf, type FileScope, holdGroup, needsContext } from './plan-scope.ts'
import { WorkflowError } from './problems.ts'
import { limitPermissions } from './read-permissions.ts'
import { evaluateConcurrency } from './settings.ts'
import { evaluateAll, evaluateText } from './template.ts'

export interface Caller {
  call: Call
  job: Job
  identity: JobIdentity
  scope: Scope
  file: FileScope
}

/**
 * The scope of a workflow that a job calls.
 * @throws WorkflowError where it cannot be called so
 */
export function enterCall({ call, job, identity, scope, file }: Caller): FileScope {
  const { workflow, definition } = findCalled(call, file)
  const entered: FileScope = {
    ...file,
    workflow,
    keyPrefix: `${identity.key}/`,
    namePrefix: `${identity.name} / `,
    inputs: passInputs(call, definition, scope, file),
    secrets: passSecrets(call, definition, file.secrets),
    ceiling: limitPermissions(job.permissions ?? file.workflow.permissions, file.ceiling),
    callers: [...file.callers, file.workflow.path],
  }
  if (!workflow.concurrency) return entered
  const inner: Scope = { ...scope, contexts: contextsOf(entered) }
  return holdGroup(entered, evaluateConcurrency(workflow.concurrency, identity.key, inner))
}

function findCalled({ path }: Call, file: FileScope): { workflow: Workflow; definition: CallDefinition } {
  const workflow = Object.hasOwn(file.run.called, path) ? file.run.called[path] : undefined
  if (workflow === undefined) throw new WorkflowError(`The workflow \`${path}\` does not exist.`)
  if (workflow.on.call === undefined)
    throw new WorkflowError(`The workflow \`${path}\` cannot be called: its \`on\` has no \`workflow_call\`.`)
  if ([...file.callers, file.workflow.path].includes(path))
    throw new WorkflowError(`The workflow \`${path}\` calls itself.`)
  if (file.callers.length + 2 > MAX_CALL_DEPTH)
    throw new WorkflowError(`Workflows call each other more than ${MAX_CALL_DEPTH} levels deep.`)
  return { workflow, definition: workflow.on.call }
}

function passInputs(call: Call, definition: CallDefinition, scope: Scope, file: FileScope): JsonRecord {
  const ownScope: Scope = { ...scope, contexts: contextsOf(file) }
  const definitions = mapRecord(definition.inputs, (input) =>
    input.default === undefined ? input : { ...input, default: evaluateAll(input.default, ownScope) },
  )
  const { inputs, problems } = readCallInputs(definitions, recordOf(evaluateAll(call.inputs, scope)))
  if (problems) throw new WorkflowError(problems.join(' '))
  return inputs
}

/** Each job has its own, so every workflow has them. */
const JOB_TOKENS: readonly string[] = ['GITHUB_TOKEN', 'GITEA_TOKEN']

/** By the names in the called workflow, those of the repository. What the caller itself was not given stays unknown. */
function passSecrets({ secrets }: Call, definition: CallDefinition, own: PassedSecrets): PassedSecrets {
  if (secrets === 'inherit') return own
  for (const name of Object.keys(secrets))
    if (!Object.hasOwn(definition.secrets, name))
      throw new WorkflowError(`The called workflow has no secret \`${name}\`.`)
  for (const [name, { isRequired }] of Object.entries(definition.secrets))
    if (isRequired && !Object.hasOwn(secrets, name)) throw new WorkflowError(`The secret \`${name}\` is required.`)
  if (own === 'all') return secrets
  return Object.fromEntries(
    Object.entries(secrets).flatMap(([alias, name]) => {
      const source = Object.hasOwn(own, name) ? own[name] : JOB_TOKENS.find((token) => token === name)
      return source === undefined ? [] : [[alias, source]]
    }),
  )
}

/** What the caller has become when all jobs of the called workflow have ended. */
export function leaveCall(file: FileScope, outcomes: Outcomes, scope: Scope): FinishedJob {
  const jobs = needsContext([...outcomes.keys()], outcomes)
  const inner: Scope = { ...scope, contexts: contextsOf(file, { jobs }) }
  return {
    result: combineOutcomes([...outcomes.values()]).result,
    outputs: mapRecord(file.workflow.on.call?.outputs ?? {}, (output) => evaluateText(output, inner)),
  }
}
