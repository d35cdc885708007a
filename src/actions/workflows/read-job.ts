import { isRecord, type Json, type JsonRecord, listOf, mapRecord, optionalText, recordOf, textOf } from './json.ts'
import { MAX_NAME } from './limits.ts'
import type { Call, ConcurrencyTemplate, Job, Step, StrategyTemplate } from './model.ts'
import { type Position, WorkflowError } from './problems.ts'
import { readPermissions } from './read-permissions.ts'

export interface JobPlace {
  id: string
  /** With a function for the state, as the parser completes it. */
  condition: string
  find(path: readonly string[]): Position
}

export function readJob(job: JsonRecord, { id, condition, find }: JobPlace): Job {
  return {
    id,
    at: find([]),
    name: optionalText(job.name) || undefined,
    needs: [...new Set(listOf(job.needs).map(textOf))],
    condition,
    runsOn: job['runs-on'],
    strategy: typeof job.strategy === 'string' ? job.strategy : readStrategy(job.strategy),
    concurrency: readConcurrency(job.concurrency),
    timeoutMinutes: numberOrTemplate(job['timeout-minutes']),
    continueOnError: flagOrTemplate(job['continue-on-error']),
    environment: readEnvironment(job.environment),
    permissions: readPermissions(job.permissions),
    outputs: mapRecord(recordOf(job.outputs), textOf),
    steps: listOf(job.steps).map((step) => readStep(recordOf(step))),
    call: job.uses === undefined ? undefined : readCall(job, find),
    source: job,
  }
}

const numberOrTemplate = (value: Json | undefined): number | string | undefined =>
  typeof value === 'number' ? value : optionalText(value)

const flagOrTemplate = (value: Json | undefined): boolean | string | undefined =>
  typeof value === 'boolean' ? value : optionalText(value)

/** No mapping says nothing. */
export function readStrategy(strategy: Json | undefined): StrategyTemplate {
  const { matrix, 'fail-fast': failFast, 'max-parallel': maxParallel } = recordOf(strategy)
  return { matrix, failFast: flagOrTemplate(failFast), maxParallel: numberOrTemplate(maxParallel) }
}

/** Of a workflow or of a job. */
export function readConcurrency(value: Json | undefined): ConcurrencyTemplate | undefined {
  if (value === undefined || value === null) return undefined
  if (!isRecord(value)) return { group: textOf(value), cancelInProgress: false, queue: 'single' }
  return {
    group: textOf(value.group),
    cancelInProgress: flagOrTemplate(value['cancel-in-progress']) ?? false,
    queue: value.queue === 'max' ? 'max' : 'single',
  }
}

const readEnvironment = (value: Json | undefined): string | undefined =>
  (isRecord(value) ? optionalText(value.name) : optionalText(value)) || undefined

/** Wire: the title is the name, or `Run` with what the step uses or runs. */
function readStep({ name, uses, run, id }: JsonRecord): Step {
  const title = textOf(name) || `Run ${textOf(uses) || textOf(run).trim() || textOf(id)}`
  return { title: [...(title.split('\n')[0] ?? '')].slice(0, MAX_NAME).join('') }
}

const LOCAL = /^\.\/(\.(?:gitea|github)\/workflows\/[^/@]+\.ya?ml)$/
const SECRET = /^\s*\$\{\{\s*secrets\.([A-Za-z_]\w*)\s*\}\}\s*$/

function readCall({ uses, with: inputs, secrets }: JsonRecord, find: JobPlace['find']): Call {
  const path = LOCAL.exec(textOf(uses))?.[1]
  if (path === undefined)
    throw new WorkflowError(
      `A job can use workflows of its own repository only, such as \`./.gitea/workflows/build.yml\`, and not \`${textOf(uses)}\`.`,
      find(['uses']),
    )
  return { path, inputs: recordOf(inputs), secrets: secrets === 'inherit' ? 'inherit' : readSecrets(secrets, find) }
}

/** Secrets are passed on by name, so that no plan ever holds one. */
function readSecrets(secrets: Json | undefined, find: JobPlace['find']): Record<string, string> {
  const passed = Object.entries(recordOf(secrets)).map(([alias, value]) => {
    const name = SECRET.exec(textOf(value))?.[1]
    if (name === undefined)
      throw new WorkflowError(
        `The secret \`${alias}\` has to be given as \`\${{ secrets.NAME }}\`.`,
        find(['secrets', alias]),
      )
    return [alias.toUpperCase(), name.toUpperCase()] as const
  })
  return Object.fromEntries(passed)
}
