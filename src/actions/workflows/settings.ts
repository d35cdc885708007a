import type { Scope } from './expression.ts'
import { isRecord, type Json, type JsonRecord, listOf, textOf } from './json.ts'
import { DEFAULT_TIMEOUT_MINUTES, MAX_LABELS, MAX_NAME, MAX_TIMEOUT_MINUTES } from './limits.ts'
import type { ConcurrencyTemplate, Job, StrategyTemplate, Template } from './model.ts'
import type { Concurrency } from './plan-model.ts'
import { WorkflowError } from './problems.ts'
import { readStrategy } from './read-job.ts'
import { evaluateAll, evaluateTemplate, evaluateText, mentionsNeeds } from './template.ts'

const evaluated = (value: Json | undefined, scope: Scope): Json | undefined =>
  typeof value === 'string' ? evaluateTemplate(value, scope) : value

/** @throws WorkflowError where it is neither true nor false */
export const evaluateFlag = (value: boolean | string | undefined, key: string, scope: Scope): boolean | undefined =>
  flagOf(evaluated(value, scope), key)

function flagOf(value: Json | undefined, key: string): boolean | undefined {
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined
  if (value === 'true' || value === 'false') return value === 'true'
  throw new WorkflowError(`\`${key}\` is neither true nor false.`)
}

/** @throws WorkflowError where it is no number above zero */
function numberOf(value: Json | undefined, key: string): number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const number = Number(textOf(value))
  if (Number.isFinite(number) && number > 0) return number
  throw new WorkflowError(`\`${key}\` is no number above zero.`)
}

export function evaluateTimeout(job: Job, scope: Scope): number {
  const minutes = numberOf(evaluated(job.timeoutMinutes, scope), 'timeout-minutes') ?? DEFAULT_TIMEOUT_MINUTES
  if (minutes <= MAX_TIMEOUT_MINUTES) return minutes
  throw new WorkflowError(`\`timeout-minutes\` is above ${MAX_TIMEOUT_MINUTES}.`)
}

export interface RunsOn {
  labels: string[]
  group?: string | undefined
}

/** A label, a list of labels, or a group with labels; each may come from an expression. */
export function evaluateRunsOn(runsOn: Json | undefined, scope: Scope): RunsOn {
  const value = evaluateAll(runsOn ?? null, scope)
  const labels = listOf(isRecord(value) ? value.labels : value).map((label) => textOf(label).trim())
  const group = isRecord(value) ? textOf(value.group).trim() : ''
  if (labels.includes('') || (labels.length === 0 && group === ''))
    throw new WorkflowError('`runs-on` names no runner.')
  if (labels.length > MAX_LABELS || [...labels, group].some((label) => label.length > MAX_NAME))
    throw new WorkflowError(
      `\`runs-on\` has more than ${MAX_LABELS} labels, or one of more than ${MAX_NAME} characters.`,
    )
  return { labels: [...new Set(labels)], group: group || undefined }
}

/** The labels of a job that is not to run now. What is wrong with them is said when it is. */
export function tellLabels(runsOn: Json | undefined, scope: Scope): string[] {
  if (mentionsNeeds(runsOn)) return []
  try {
    return evaluateRunsOn(runsOn, scope).labels
  } catch (error) {
    if (error instanceof WorkflowError) return []
    throw error
  }
}

/** @param holder see `Concurrency` */
export function evaluateConcurrency(template: ConcurrencyTemplate, holder: string, scope: Scope): Concurrency {
  const group = evaluateText(template.group, scope).trim()
  if (group === '' || group.length > MAX_NAME)
    throw new WorkflowError(`The group of \`concurrency\` is empty, or has more than ${MAX_NAME} characters.`)
  const cancelInProgress = evaluateFlag(template.cancelInProgress, 'cancel-in-progress', scope) ?? false
  return { group, cancelInProgress, queue: template.queue, holder }
}

export interface EvaluatedStrategy {
  matrix?: Json | undefined
  failFast: boolean
  maxParallel?: number | undefined
}

/** A strategy that is one expression is evaluated once: the texts in its value stay as they are. */
export function evaluateStrategy(template: Job['strategy'], scope: Scope): EvaluatedStrategy {
  const { matrix, failFast, maxParallel } =
    typeof template === 'string' ? readStrategy(evaluateWhole(template, scope)) : evaluateParts(template, scope)
  return {
    matrix,
    failFast: flagOf(failFast, 'fail-fast') ?? true,
    maxParallel: numberOf(maxParallel, 'max-parallel'),
  }
}

function evaluateWhole(template: Template, scope: Scope): JsonRecord {
  const value = evaluateTemplate(template, scope)
  if (isRecord(value)) return value
  throw new WorkflowError('The strategy is not a mapping.')
}

type Parts = { [Key in keyof StrategyTemplate]: Json | undefined }

const evaluateParts = ({ matrix, failFast, maxParallel }: StrategyTemplate, scope: Scope): Parts => ({
  matrix: matrix === undefined || matrix === null ? undefined : evaluateAll(matrix, scope),
  failFast: evaluated(failFast, scope),
  maxParallel: evaluated(maxParallel, scope),
})
