import type { Scope } from './expression.ts'
import { WorkflowFault } from './faults.ts'
import { isRecord, type Json, listOf, textOf } from './json.ts'
import { DEFAULT_TIMEOUT_MINUTES, MAX_LABELS, MAX_NAME, MAX_TIMEOUT_MINUTES } from './limits.ts'
import type { ConcurrencyTemplate, Job, StrategyTemplate } from './model.ts'
import type { Concurrency } from './plan-model.ts'
import { evaluateAll, evaluateTemplate, evaluateText } from './template.ts'

/** @throws WorkflowFault where it is neither true nor false */
export function evaluateFlag(value: boolean | string | undefined, key: string, scope: Scope): boolean | undefined {
  const result = typeof value === 'string' ? evaluateTemplate(value, scope) : value
  if (result === undefined || result === null || typeof result === 'boolean') return result ?? undefined
  if (result === 'true' || result === 'false') return result === 'true'
  throw new WorkflowFault(`\`${key}\` is neither true nor false.`)
}

/** @throws WorkflowFault where it is no number above zero */
export function evaluateNumber(value: number | string | undefined, key: string, scope: Scope): number | undefined {
  const result = typeof value === 'string' ? evaluateTemplate(value, scope) : value
  if (result === undefined || result === null || result === '') return undefined
  const number = Number(textOf(result))
  if (Number.isFinite(number) && number > 0) return number
  throw new WorkflowFault(`\`${key}\` is no number above zero.`)
}

export function evaluateTimeout(job: Job, scope: Scope): number {
  const minutes = evaluateNumber(job.timeoutMinutes, 'timeout-minutes', scope) ?? DEFAULT_TIMEOUT_MINUTES
  if (minutes <= MAX_TIMEOUT_MINUTES) return minutes
  throw new WorkflowFault(`\`timeout-minutes\` is above ${MAX_TIMEOUT_MINUTES}.`)
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
    throw new WorkflowFault('`runs-on` names no runner.')
  if (labels.length > MAX_LABELS || [...labels, group].some((label) => label.length > MAX_NAME))
    throw new WorkflowFault(
      `\`runs-on\` has more than ${MAX_LABELS} labels, or one of more than ${MAX_NAME} characters.`,
    )
  return { labels: [...new Set(labels)], group: group || undefined }
}

/** @param holder see `Concurrency` */
export function evaluateConcurrency(template: ConcurrencyTemplate, holder: string, scope: Scope): Concurrency {
  const group = evaluateText(template.group, scope).trim()
  if (group === '' || group.length > MAX_NAME)
    throw new WorkflowFault(`The group of \`concurrency\` is empty, or has more than ${MAX_NAME} characters.`)
  const cancelInProgress = evaluateFlag(template.cancelInProgress, 'cancel-in-progress', scope) ?? false
  return { group, cancelInProgress, queue: template.queue, holder }
}

export function evaluateStrategy(
  { failFast, maxParallel }: StrategyTemplate,
  scope: Scope,
): { failFast: boolean; maxParallel?: number | undefined } {
  return {
    failFast: evaluateFlag(failFast, 'fail-fast', scope) ?? true,
    maxParallel: evaluateNumber(maxParallel, 'max-parallel', scope),
  }
}
