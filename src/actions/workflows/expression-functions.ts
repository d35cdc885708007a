import { data, wellKnownFunctions } from '@actions/expressions'
import type { ExpressionData } from '@actions/expressions/data/expressiondata'
import type { FunctionDefinition } from '@actions/expressions/funcs/info'
import { MAX_EXPRESSION_OUTPUT, MAX_YAML_DEPTH } from './limits.ts'
import { WorkflowError } from './problems.ts'

/** How much the expressions of one plan may still make, in characters. */
export class Budget {
  private left = MAX_EXPRESSION_OUTPUT

  /** @throws WorkflowError where too little is left */
  spend(characters: number): void {
    this.left -= characters
    if (this.left < 0) throw new WorkflowError(`The expressions make more than ${MAX_EXPRESSION_OUTPUT} characters.`)
  }
}

type Cost = (args: readonly ExpressionData[]) => number

/** An upper bound of what each function makes, known before it is called. Those that are not here make no more than they are given. */
const COSTS: Readonly<Record<string, Cost>> = {
  format: ([template, ...args]) => formatCost(textOf(template), args),
  fromjson: ([text]) => textOf(text).length,
  join: ([list, separator]) => joinCost(list, separator ? textOf(separator).length : 1),
  tojson: ([value]) => (value ? jsonCost(value, 0) : 0),
}

/** GitHub's functions, each of which pays before it works. By lower-case name. */
export function limitedFunctions(budget: Budget): Map<string, FunctionDefinition> {
  const limited = Object.entries(wellKnownFunctions).map(([name, definition]): [string, FunctionDefinition] => {
    const call = (...args: ExpressionData[]): ExpressionData => {
      budget.spend((COSTS[name]?.(args) ?? 0) + 1)
      return definition.call(...args)
    }
    return [name, { ...definition, call }]
  })
  // The library looks a name up in an object, which has a constructor.
  return new Map([...limited, ['constructor', NO_FUNCTION]])
}

const NO_FUNCTION: FunctionDefinition = {
  name: 'constructor',
  minArgs: 0,
  maxArgs: 0,
  call() {
    throw new WorkflowError('There is no function `constructor`.')
  },
}

const textOf = (value: ExpressionData | undefined): string => value?.coerceString() ?? ''

function formatCost(template: string, args: readonly ExpressionData[]): number {
  const lengths = args.map((arg) => textOf(arg).length)
  let cost = template.length
  for (const [, index] of template.matchAll(/\{(\d+)/g)) cost += lengths[Number(index)] ?? 0
  return cost
}

function joinCost(list: ExpressionData | undefined, separator: number): number {
  if (!(list instanceof data.Array)) return textOf(list).length
  return list.values().reduce((sum, item) => sum + textOf(item).length + separator, 0)
}

/** Two spaces for each level, and six characters for the worst that one can become. */
function jsonCost(value: ExpressionData, depth: number): number {
  if (depth > MAX_YAML_DEPTH) throw new WorkflowError(`A value is more than ${MAX_YAML_DEPTH} levels deep.`)
  const line = 2 * depth + 4
  if (value instanceof data.StringData) return 6 * value.value.length + line
  if (value instanceof data.Array)
    return value.values().reduce((sum, item) => sum + jsonCost(item, depth + 1), 2 * line)
  if (value instanceof data.Dictionary)
    return value.pairs().reduce((sum, pair) => sum + 6 * pair.key.length + jsonCost(pair.value, depth + 1), 2 * line)
  return line + 20
}
