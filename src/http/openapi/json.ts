/** A JSON value, as a document holds it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

export interface JsonObject {
  [key: string]: Json
}

/** What may be missing where it is read. */
type Found = Json | undefined

export const isObject = (value: Found): value is JsonObject =>
  typeof value === 'object' && value !== null && !isList(value)

export const isList = (value: Found): value is readonly Json[] => Array.isArray(value)

/** The object itself, or an empty one when the value is anything else. */
export const objectOf = (value: Found): JsonObject => (isObject(value) ? value : {})

export const listOf = (value: Found): readonly Json[] => (isList(value) ? value : [])

/** The strings of a list; other items are left out. */
export const stringsOf = (value: Found): string[] => listOf(value).filter((item) => typeof item === 'string')

/** A copy with the named keys only, in the object's own order. */
export const pick = (from: JsonObject, keys: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([key]) => keys.has(key)))

/** Reads JSON text that the program itself wrote. */
export function parseJson(text: string): Json {
  const value: Json = JSON.parse(text)
  return value
}

/**
 * The JSON of a value built in code, such as a TypeBox schema: symbols, functions and undefined are left out. An object
 * met again gives the same result, so that shared schemas are read once.
 */
export function jsonOf(value: unknown, known: WeakMap<object, Json>): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string')
    return value
  if (typeof value !== 'object') return null
  const earlier = known.get(value)
  if (earlier !== undefined) return earlier
  const json = Array.isArray(value) ? value.map((item) => jsonOf(item, known)) : membersOf(value, known)
  known.set(value, json)
  return json
}

function membersOf(value: object, known: WeakMap<object, Json>): JsonObject {
  const members: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined && typeof member !== 'function') members[key] = jsonOf(member, known)
  }
  return members
}
