import { evaluate, type Scope, toText } from './expression.ts'
import { isRecord, type Json } from './json.ts'
import { MAX_YAML_DEPTH } from './limits.ts'
import type { Template } from './model.ts'
import { WorkflowError } from './problems.ts'

type Segment = { text: string } | { expression: string }

/** Splits a template at its expressions. Within quotes of an expression `}}` does not end it. */
function splitTemplate(template: Template): Segment[] {
  const segments: Segment[] = []
  let at = 0
  for (;;) {
    const start = template.indexOf('${{', at)
    if (start === -1) break
    const end = endOfExpression(template, start + 3)
    if (start > at) segments.push({ text: template.slice(at, start) })
    segments.push({ expression: template.slice(start + 3, end).trim() })
    at = end + 2
  }
  if (at < template.length) segments.push({ text: template.slice(at) })
  return segments
}

function endOfExpression(template: string, from: number): number {
  let isQuoted = false
  for (let at = from; at < template.length; at += 1) {
    if (template[at] === "'") isQuoted = !isQuoted
    else if (!isQuoted && template.startsWith('}}', at)) return at
  }
  throw new WorkflowError('An expression begins with `${{` and does not end.')
}

/** A template that is one expression has any kind of value, every other one is a text. */
export function evaluateTemplate(template: Template, scope: Scope): Json {
  const segments = splitTemplate(template)
  const [only] = segments
  if (segments.length === 1 && only && 'expression' in only) return evaluate(only.expression, scope)
  const text = segments
    .map((segment) => ('text' in segment ? segment.text : toText(evaluate(segment.expression, scope))))
    .join('')
  scope.budget.spend(text.length)
  return text
}

export const evaluateText = (template: Template, scope: Scope): string => toText(evaluateTemplate(template, scope))

/** Evaluates every text within a value. */
export function evaluateAll(value: Json, scope: Scope, depth = 0): Json {
  if (depth > MAX_YAML_DEPTH) throw new WorkflowError(`A value is more than ${MAX_YAML_DEPTH} levels deep.`)
  if (typeof value === 'string') return evaluateTemplate(value, scope)
  if (Array.isArray(value)) return value.map((item) => evaluateAll(item, scope, depth + 1))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [evaluateText(key, scope), evaluateAll(item, scope, depth + 1)]),
  )
}

/** Whether something in a value has to wait for results of needed jobs. It may also say so of a text that only looks like it. */
export function mentionsNeeds(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.includes('${{') && /\bneeds\b/i.test(value)
  if (Array.isArray(value)) return value.some(mentionsNeeds)
  return isRecord(value) && Object.entries(value).some(([key, item]) => mentionsNeeds(key) || mentionsNeeds(item))
}

export const hasExpression = (template: Template): boolean => template.includes('${{')

/**
 * A template that gives the text. What was evaluated once is never evaluated again: a branch or a commit's message could name a secret.
 */
export function escapeTemplate(text: string): Template {
  // By a function: in a text `$'` would mean what stands behind.
  return text.replaceAll('${{', () => `\${{ '$' }}{{`)
}

export function escapeAll(value: Json): Json {
  if (typeof value === 'string') return escapeTemplate(value)
  if (Array.isArray(value)) return value.map(escapeAll)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [escapeTemplate(key), escapeAll(item)]))
}
