import { KindGuard, type TObject, type TSchema } from '@sinclair/typebox'
import { invalid, type Refusal } from '../kernel/errors.ts'

type Coerced = { value: unknown; refusal?: undefined } | { value?: undefined; refusal: Refusal }

/**
 * Coerces a parsed body to the schema that will check it, as the Gitea API reads JSON. Letter case of keys does not matter. Null means
 * absent, unless the schema allows null. Unknown keys are dropped. Texts of a form become numbers and booleans. A value that cannot be
 * coerced stays as it is, and the check of the schema names it.
 */
export function coerceToSchema(value: unknown, schema: TSchema, isForm: boolean): Coerced {
  if (KindGuard.IsObject(schema) && !isRecord(value)) {
    // A text or a list has no keys: it would pass for an object in which nothing is given.
    return value === null ? { value: {} } : { refusal: invalid('the body must be an object', '[]') }
  }
  try {
    return { value: coerce(value, schema, isForm) }
  } catch (error) {
    if (error instanceof NulInText) return { refusal: invalid('text must not hold the NUL character', '[]') }
    throw error
  }
}

class NulInText extends Error {}

function coerce(value: unknown, schema: TSchema, isForm: boolean): unknown {
  const inner = withoutNull(schema)
  if (typeof value === 'string') return coerceText(value, inner, isForm)
  if (KindGuard.IsArray(inner)) {
    if (Array.isArray(value)) return value.map((item) => coerce(item, inner.items, isForm))
    return isForm && value !== undefined ? [coerce(value, inner.items, isForm)] : value
  }
  if (!isRecord(value)) return value
  if (KindGuard.IsObject(inner)) return coerceObject(value, inner, isForm)
  for (const item of Object.values(value)) if (typeof item === 'string') refuseNul(item)
  return value
}

function coerceObject(value: Record<string, unknown>, schema: TObject, isForm: boolean): Record<string, unknown> {
  const names = namesOf(schema)
  const coerced = new Map<string, unknown>()
  for (const [key, item] of Object.entries(value)) {
    const name = names.get(key.toLowerCase())
    const property = name === undefined ? undefined : schema.properties[name]
    if (name === undefined || property === undefined) continue
    if (item === null && !acceptsNull(property)) continue
    coerced.set(name, coerce(item, property, isForm))
  }
  return Object.fromEntries(coerced)
}

function coerceText(text: string, schema: TSchema, isForm: boolean): unknown {
  refuseNul(text)
  if (!isForm) return text
  if (KindGuard.IsArray(schema)) return [coerceText(text, schema.items, isForm)]
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
