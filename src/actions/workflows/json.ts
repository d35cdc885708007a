/** What a YAML file and an expression can hold. */
export type Json = string | number | boolean | null | Json[] | JsonRecord
export interface JsonRecord {
  [key: string]: Json
}

export const isRecord = (value: Json | undefined): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of a key of its own: `constructor` is none. */
export const ownValue = (record: JsonRecord, key: string): Json | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

/** PostgreSQL stores no NUL, and no half of a character in JSON. What holds one could never be written, however often it is tried. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** No record is an empty one. */
export const recordOf = (value: Json | undefined): JsonRecord => (isRecord(value) ? value : {})

/** Absent is empty, and one value is a list of one. */
export const listOf = (value: Json | undefined): Json[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]

/** As expressions write a scalar. Lists and records have no text. */
export const textOf = (value: Json | undefined): string =>
  value === undefined || value === null || typeof value === 'object' ? '' : String(value)

export const optionalText = (value: Json | undefined): string | undefined =>
  value === undefined || value === null ? undefined : textOf(value)

/** The same keys, each with another value. */
export const mapRecord = <Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value, key: string) => Result,
): Record<string, Result> => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))

/** What JSON makes of a value: what it has no place for is left out of records, and null elsewhere. */
export function asJson(value: unknown): Json {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map(asJson)
  if (typeof value !== 'object' || value === null) return null
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(entries.map(([key, one]) => [key, asJson(one)]))
}
