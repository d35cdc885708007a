import { data, Evaluator, Lexer, Parser } from '@actions/expressions'
import type { ExpressionData } from '@actions/expressions/data/expressiondata'
import type { FunctionDefinition } from '@actions/expressions/funcs/info'
import { type Budget, limitedFunctions } from './expression-functions.ts'
import { isStorable, type Json } from './json.ts'
import { MAX_YAML_DEPTH } from './limits.ts'
import { WorkflowError } from './problems.ts'

export type Contexts = ReadonlyMap<string, ExpressionData>

export interface Scope {
  /** By lower-case name. */
  contexts: Contexts
  /** For the state of a run: `success()` and its like. */
  functions: readonly FunctionDefinition[]
  /** Shared by all expressions of a plan. */
  budget: Budget
}

/** Makes what expressions read of a value. */
export function toData(value: Json): ExpressionData {
  if (value === null) return new data.Null()
  if (typeof value === 'string') return new data.StringData(value)
  if (typeof value === 'number') return new data.NumberData(value)
  if (typeof value === 'boolean') return new data.BooleanData(value)
  if (Array.isArray(value)) return new data.Array(...value.map(toData))
  return new data.Dictionary(...Object.entries(value).map(([key, item]) => ({ key, value: toData(item) })))
}

function toJson(value: ExpressionData): Json {
  if (value instanceof data.Array) return value.values().map(toJson)
  if (value instanceof data.Dictionary)
    return Object.fromEntries(value.pairs().map(({ key, value: item }) => [key, toJson(item)]))
  if (value instanceof data.Null) return null
  return value.value
}

/**
 * Evaluates an expression without `${{ }}` by GitHub's own parser and evaluator.
 * @throws WorkflowError with a reason for people, also where the result would be too large
 */
export function evaluate(expression: string, scope: Scope): Json {
  return toJson(evaluateData(expression, scope))
}

/** As GitHub judges a condition: empty texts, zero and null are false. */
export function isTruthy(value: Json): boolean {
  return (
    Array.isArray(value) || !(value === '' || value === 0 || value === null || value === false || Number.isNaN(value))
  )
}

/** As expressions write a value within a text. */
export const toText = (value: Json): string => toData(value).coerceString()

function evaluateData(expression: string, { contexts, functions, budget }: Scope): ExpressionData {
  const limited = limitedFunctions(budget)
  for (const definition of functions) limited.set(definition.name, definition)
  try {
    const { tokens } = new Lexer(expression).lex()
    const tree = new Parser(tokens, [...contexts.keys()], [...functions]).parse()
    const values = new data.Dictionary(...[...contexts].map(([key, value]) => ({ key, value })))
    const result = new Evaluator(tree, values, limited).evaluate()
    budget.spend(sizeOf(result))
    return result
  } catch (error) {
    if (error instanceof WorkflowError) throw error
    // The library throws plain errors for what an expression does wrong, and the stack may end in a deep value.
    if (error instanceof Error)
      throw new WorkflowError(`The expression \`${shorten(expression)}\` fails: ${shorten(error.message)}.`)
    throw error
  }
}

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}...` : text)

/** Characters and values, roughly. Whoever goes through the value later needs no limit of depth. */
function sizeOf(value: ExpressionData, depth = 0): number {
  if (depth > MAX_YAML_DEPTH) throw new WorkflowError(`A value is more than ${MAX_YAML_DEPTH} levels deep.`)
  if (value instanceof data.StringData) return lengthOf(value.value) + 1
  if (value instanceof data.Array) return value.values().reduce((sum, item) => sum + sizeOf(item, depth + 1), 1)
  if (value instanceof data.Dictionary)
    return value.pairs().reduce((sum, { key, value: item }) => sum + lengthOf(key) + sizeOf(item, depth + 1), 1)
  return 1
}

function lengthOf(text: string): number {
  if (!isStorable(text)) throw new WorkflowError('A text holds a NUL, or half of a character.')
  return text.length
}
