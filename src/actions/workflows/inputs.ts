import { isRecord, isStorable, type Json, type JsonRecord, textOf } from './json.ts'
import { MAX_INPUT_CHARACTERS } from './limits.ts'
import type { InputDefinition } from './model.ts'

export type ReadInputs = { inputs: JsonRecord; problems?: undefined } | { inputs?: undefined; problems: string[] }

type Definitions = Readonly<Record<string, InputDefinition>>

/**
 * The values of `workflow_dispatch` inputs: those given, defaults for the others. Programs and forms give all of them as texts.
 * Names are compared without letter case, as GitHub does.
 */
export function readDispatchInputs(definitions: Definitions, given: JsonRecord): ReadInputs {
  if (JSON.stringify(given).length > MAX_INPUT_CHARACTERS)
    return { problems: [`The inputs have more than ${MAX_INPUT_CHARACTERS} characters.`] }
  if (!Object.values(given).every((value) => isStorable(textOf(value))))
    return { problems: ['The inputs hold a NUL, or half of a character.'] }
  return readInputs(definitions, given, fromText)
}

/** The values of `workflow_call` inputs, after `with` was evaluated: each has the kind that is declared. */
export const readCallInputs = (definitions: Definitions, given: JsonRecord): ReadInputs =>
  readInputs(definitions, given, (value, { type }) => (type === 'string' && !isRecord(value) ? textOf(value) : value))

type Convert = (value: Json, definition: InputDefinition) => Json | undefined

function readInputs(definitions: Definitions, given: JsonRecord, convert: Convert): ReadInputs {
  const problems: string[] = []
  const byName = new Map(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
  const names = new Set(Object.keys(definitions).map((name) => name.toLowerCase()))
  for (const name of Object.keys(given))
    if (!names.has(name.toLowerCase())) problems.push(`The workflow has no input \`${name}\`.`)
  const inputs = Object.entries(definitions).map(([name, definition]): [string, Json] => {
    const sent = byName.get(name.toLowerCase())
    const isAbsent = sent === undefined || sent === null || (sent === '' && definition.type !== 'string')
    const value = isAbsent ? absentValue(definition) : convert(sent, definition)
    if (definition.isRequired && (isAbsent ? definition.default === undefined : sent === ''))
      problems.push(`The input \`${name}\` is required.`)
    else if (value === undefined || !isOfType(value, definition)) problems.push(inputProblem(name, definition))
    return [name, value ?? null]
  })
  return problems.length > 0 ? { problems } : { inputs: Object.fromEntries(inputs) }
}

function absentValue({ type, default: value, options }: InputDefinition): Json {
  if (value !== undefined) return value
  if (type === 'boolean') return false
  if (type === 'number') return 0
  return type === 'choice' ? (options[0] ?? '') : ''
}

function fromText(value: Json, { type }: InputDefinition): Json | undefined {
  if (type === 'boolean' && typeof value === 'string')
    return value === 'true' ? true : value === 'false' ? false : undefined
  if (type === 'number' && typeof value === 'string') return value.trim() === '' ? undefined : Number(value)
  return type === 'string' && typeof value !== 'object' ? textOf(value) : value
}

function isOfType(value: Json, { type, options }: InputDefinition): boolean {
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value)
  return typeof value === 'string' && (type !== 'choice' || options.includes(value))
}

function inputProblem(name: string, { type, options }: InputDefinition): string {
  if (type === 'choice')
    return `The input \`${name}\` has to be one of ${options.map((one) => `\`${one}\``).join(', ')}.`
  return `The input \`${name}\` has to be a ${type === 'environment' ? 'name of an environment' : type}.`
}
