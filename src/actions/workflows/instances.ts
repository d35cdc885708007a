import type { Scope } from './expression.ts'
import { isRecord, type Json, type JsonRecord, textOf } from './json.ts'
import { MAX_NAME } from './limits.ts'
import { expandMatrix } from './matrix.ts'
import type { Job } from './model.ts'
import type { JobIdentity } from './plan-model.ts'
import type { FileScope } from './plan-scope.ts'
import { evaluateAll, evaluateText, hasExpression } from './template.ts'

/** One job of a matrix, or the job itself where there is none. */
export interface Instance {
  key: string
  index: number
  total: number
  matrix?: JsonRecord | undefined
  /** What its matrix adds to the name, such as ` (linux, 18)`. */
  suffix: string
}

/** @throws WorkflowFault by the matrix */
export function expandInstances(job: Job, file: FileScope, scope: Scope): Instance[] {
  const key = `${file.keyPrefix}${job.id}`
  const { matrix } = job.strategy
  if (matrix === undefined || matrix === null) return [wholeOf(job, file)]
  const combinations = expandMatrix(evaluateAll(matrix, scope))
  return combinations.map(({ values, shown }, index) => ({
    key: `${key}[${index}]`,
    index,
    total: combinations.length,
    matrix: values,
    suffix: suffixOf(shown),
  }))
}

function suffixOf(shown: readonly Json[]): string {
  const texts = shown.flatMap(leavesOf).filter((text) => text !== '')
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`
}

function leavesOf(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  return isRecord(value) ? Object.values(value).flatMap(leavesOf) : [textOf(value)]
}

/** The key of a job as a whole, whose parts are not known yet. */
export const wholeOf = (job: Job, file: FileScope): Instance => ({
  key: `${file.keyPrefix}${job.id}`,
  index: 0,
  total: 1,
  suffix: '',
})

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

const cut = (name: string): string => [...name].slice(0, MAX_NAME).join('')
