import { KindGuard, type TObject, type TSchema } from '@sinclair/typebox'
import { invalid, type Refusal } from '../kernel/errors.ts'

type Fitted = { value: unknown; refusal?: undefined } | { value?: undefined; refusal: Refusal }

/**
 * Makes a parsed body fit the schema that will check it, as the family reads JSON: keys match without regard to letter case,
 * null means absent where null is no value of its own, unknown keys are left out. Form texts become numbers and booleans.
 * What does not fit is left as it is, for the schema's check to name.
 */
export function fitToSchema(value: unknown, schema: TSchema, isForm: boolean): Fitted {
  if (KindGuard.IsObject(schema) && !isRecord(value)) {
    // A text or a list has no keys: it would pass for an object in which nothing is given.
    return value === null ? { value: {} } : { refusal: invalid('the body must be an object', '[]') }
  }
  try {
    return { value: fit(value, schema, isForm) }
  } catch (error) {
    if (error instanceof NulInText) return { refusal: invalid('text must not hold the NUL character', '[]') }
    throw error
  }
}

class NulInText extends Error {}

function fit(value: unknown, schema: TSchema, isForm: boolean): unknown {
  const inner = withoutNull(schema)
  if (typeof value === 'string') return fitText(value, inner, isForm)
  if (KindGuard.IsArray(inner)) {
    if (Array.isArray(value)) return value.map((item) => fit(item, inner.items, isForm))
    return isForm && value !== undefined ? [fit(value, inner.items, isForm)] : value
  }
  if (!isRecord(value)) return value
  if (KindGuard.IsObject(inner)) return fitObject(value, inner, isForm)
  for (const item of Object.values(value)) if (typeof item === 'string') refuseNul(item)
  return value
}

function fitObject(value: Record<string, unknown>, schema: TObject, isForm: boolean): Record<string, unknown> {
  const names = namesOf(schema)
  const fitted = new Map<string, unknown>()
  for (const [key, item] of Object.entries(value)) {
    const name = names.get(key.toLowerCase())
    const property = name === undefined ? undefined : schema.properties[name]
    if (name === undefined || property === undefined) continue
    if (item === null && !acceptsNull(property)) continue
    fitted.set(name, fit(item, property, isForm))
  }
  return Object.fromEntries(fitted)
}

function fitText(text: string, schema: TSchema, isForm: boolean): unknown {
  refuseNul(text)
  if (!isForm) return text
  if (KindGuard.IsArray(schema)) return [fitText(text, schema.items, isForm)]
  if (schema.type === 'integer' || schema.type === 'number')
    return /^-?\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : text
  if (schema.type === 'boolean')
    return /^(true|1|on)$/i.test(text) ? true : /^(false|0|off)$/i.test(text) ? false : text
  return text
}

/** PostgreSQL cannot keep NUL in a text, and no name, title or body needs it. */
function refuseNul(text: string): void {
  if (text.includes('\0')) throw new NulInText()
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const lowerNames = new WeakMap<TObject, Map<string, string>>()

function namesOf(schema: TObject): Map<string, string> {
  const known = lowerNames.get(schema)
  if (known) return known
  const names = new Map(Object.keys(schema.properties).map((name) => [name.toLowerCase(), name]))
  lowerNames.set(schema, names)
  return names
}

const acceptsNull = (schema: TSchema): boolean =>
  schema.type === 'null' || schema.nullable === true || (KindGuard.IsUnion(schema) && schema.anyOf.some(acceptsNull))

/** The one branch of `T | null` that is not null; the schema itself when there is a real choice. */
function withoutNull(schema: TSchema): TSchema {
  if (!KindGuard.IsUnion(schema)) return schema
  const branches = schema.anyOf.filter((branch) => branch.type !== 'null')
  const [only] = branches
  return branches.length === 1 && only ? only : schema
}
