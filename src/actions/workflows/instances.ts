import { type Scope, toData } from './expression.ts'
import { isRecord, type Json, type JsonRecord, textOf } from './json.ts'
import { MAX_NAME } from './limits.ts'
import { expandMatrix } from './matrix.ts'
import type { Job } from './model.ts'
import type { JobIdentity, Strategy } from './plan-model.ts'
import type { FileScope } from './plan-scope.ts'
import type { EvaluatedStrategy } from './settings.ts'
import { evaluateText, hasExpression } from './template.ts'

/** One job of a matrix, or the job itself where there is none. */
export interface Instance {
  key: string
  strategy: Strategy
  matrix?: JsonRecord | undefined
  /** What its matrix adds to the name, such as ` (linux, 18)`. */
  suffix: string
}

/** @throws WorkflowError by the matrix */
export function expandInstances(job: Job, file: FileScope, strategy: EvaluatedStrategy): Instance[] {
  const { matrix, ...rest } = strategy
  const whole = wholeOf(job, file)
  if (matrix === undefined) return [{ ...whole, strategy: { ...whole.strategy, ...rest } }]
  const combinations = expandMatrix(matrix)
  return combinations.map(({ values, shown }, index) => ({
    key: `${whole.key}[${index}]`,
    strategy: { ...rest, index, total: combinations.length },
    matrix: values,
    suffix: suffixOf(shown),
  }))
}

/** A job without a matrix, and one as a whole whose parts are not known yet. */
export const wholeOf = (job: Job, file: FileScope): Instance => ({
  key: `${file.keyPrefix}${job.id}`,
  strategy: { failFast: true, index: 0, total: 1 },
  suffix: '',
})

/** Adds the contexts `strategy` and `matrix`. */
export function withMatrix(scope: Scope, { strategy, matrix }: Instance): Scope {
  const { failFast, maxParallel, index, total } = strategy
  const shown = { 'fail-fast': failFast, 'job-index': index, 'job-total': total, 'max-parallel': maxParallel ?? total }
  const contexts = new Map([...scope.contexts, ['strategy', toData(shown)], ['matrix', toData(matrix ?? null)]])
  return { ...scope, contexts }
}

function suffixOf(shown: readonly Json[]): string {
  const texts = shown.flatMap(leavesOf).filter((text) => text !== '')
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`
}

function leavesOf(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  return isRecord(value) ? Object.values(value).flatMap(leavesOf) : [textOf(value)]
}

/** @param scope undefined where the name cannot be evaluated yet: then it is the id, if it holds an expression */
export function identify(job: Job, instance: Instance, file: FileScope, scope: Scope | undefined): JobIdentity {
  return {
    key: instance.key,
    id: job.id,
    name: cut(`${file.namePrefix}${nameOf(job, instance, scope)}`),
    needs: job.needs,
    path: file.workflow.path,
    at: job.at,
  }
}

function nameOf({ name, id }: Job, { suffix }: Instance, scope: Scope | undefined): string {
  if (name === undefined || !hasExpression(name)) return `${name ?? id}${suffix}`
  return (scope && evaluateText(name, scope).trim()) || `${id}${suffix}`
}

/** One line: parts of it may come from a commit's message. */
export const cut = (name: string): string => [...name.replace(/\s+/g, ' ').trim()].slice(0, MAX_NAME).join('')
