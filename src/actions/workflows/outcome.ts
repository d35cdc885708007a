import { data } from '@actions/expressions'
import type { ExpressionData } from '@actions/expressions/data/expressiondata'
import type { FunctionDefinition } from '@actions/expressions/funcs/info'
import type { Job } from './model.ts'
import type { FinishedJob, JobResult } from './plan-model.ts'

/** What has become of the jobs of one file; a job that has not ended is absent. */
export type Outcomes = ReadonlyMap<string, FinishedJob>

/** Of a matrix or a called workflow as a whole. Of outputs with the same name, the last one that is not empty counts. */
export function combineOutcomes(parts: readonly FinishedJob[]): FinishedJob {
  const results = new Set(parts.map(({ result }) => result))
  const result = WORST_FIRST.find((one) => results.has(one)) ?? 'skipped'
  const outputs: Record<string, string> = {}
  for (const part of parts)
    for (const [name, value] of Object.entries(part.outputs)) if (value !== '' || !outputs[name]) outputs[name] = value
  return { result, outputs }
}

const WORST_FIRST: readonly JobResult[] = ['failure', 'cancelled', 'success', 'skipped']

/** All jobs that one needs, and those that these need. */
export function ancestorsOf(job: Job, jobs: ReadonlyMap<string, Job>): string[] {
  const found = new Set<string>()
  const waiting = [...job.needs]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue
    found.add(id)
    waiting.push(...(jobs.get(id)?.needs ?? []))
  }
  return [...found]
}

/**
 * `success()` and its like, as GitHub documents them for jobs: a failed or skipped job counts for all that come after it, also those that
 * need it through others.
 */
export function statusFunctions(results: ReadonlyMap<string, JobResult>, isCancelled: boolean): FunctionDefinition[] {
  const chosen = (ids: readonly ExpressionData[]): JobResult[] =>
    ids.length === 0
      ? [...results.values()]
      : ids.map((id) => results.get(id.coerceString())).filter((result) => result !== undefined)
  return [
    define('always', () => true),
    define('cancelled', () => isCancelled),
    define('failure', (ids) => chosen(ids).includes('failure'), MANY),
    define('success', (ids) => !isCancelled && chosen(ids).every((result) => result === 'success'), MANY),
  ]
}

const MANY = 255

const define = (
  name: string,
  decide: (ids: readonly ExpressionData[]) => boolean,
  maxArgs = 0,
): FunctionDefinition => ({ name, minArgs: 0, maxArgs, call: (...args) => new data.BooleanData(decide(args)) })
