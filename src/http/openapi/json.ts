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
