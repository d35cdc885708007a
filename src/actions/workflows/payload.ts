import { stringify } from 'yaml'
import type { Json, JsonRecord } from './json.ts'
import { mapRecord } from './json.ts'
import type { Workflow } from './model.ts'
import type { ReadyJob } from './plan-model.ts'
import { escapeAll, escapeTemplate } from './template.ts'

/**
 * Wire: the `workflow_payload` of a runner's task: the file reduced to one job of one combination. The server has judged `if` and `needs`
 * already, so they are left out, and so is what only the server uses. Each text is quoted, or runners would read `no` and `1e3` in YAML 1.1.
 * @param workflow the file that the job stands in
 */
export function writePayload(workflow: Workflow, job: ReadyJob): string {
  const source = workflow.jobs.find(({ id }) => id === job.id)?.source
  if (source === undefined) throw new Error(`the workflow has no job ${job.id}`)
  const { name: _, ...head } = workflow.source
  const payload = { name: escapeTemplate(workflow.name), ...head, jobs: { [job.id]: reduceJob(source, job) } }
  return stringify(payload, {
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'QUOTE_DOUBLE',
    doubleQuotedAsJSON: true,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  })
}

const FOR_THE_SERVER: ReadonlySet<string> = new Set(['needs', 'if', 'concurrency', 'environment', 'snapshot'])

function reduceJob(source: JsonRecord, job: ReadyJob): JsonRecord {
  const rest = Object.entries(source).filter(([key]) => !FOR_THE_SERVER.has(key))
  const labels = job.labels.map(escapeTemplate)
  const [label] = labels
  return {
    ...Object.fromEntries(rest),
    name: escapeTemplate(job.name),
    'runs-on': labels.length === 1 && label !== undefined ? label : labels,
    'timeout-minutes': job.timeoutMinutes,
    'continue-on-error': job.continueOnError,
    strategy: strategyOf(job),
  }
}

function strategyOf({ strategy, matrix }: ReadyJob): Json {
  return {
    'fail-fast': strategy.failFast,
    ...(strategy.maxParallel === undefined ? {} : { 'max-parallel': strategy.maxParallel }),
    ...(matrix === undefined ? {} : { matrix: mapRecord(matrix, (value) => [escapeAll(value)]) }),
  }
}
