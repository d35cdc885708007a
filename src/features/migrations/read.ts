import { parseTime } from '../../kernel/time.ts'

/** An object of another server: nothing in it is certain. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object itself, or an empty one for anything else. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

/** The objects of a list, at most so many; what is none is left out. */
export const objectsOf = (value: unknown, most: number): Fields[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isFields) : []

/**
 * As much of a text as can be stored: without what PostgreSQL holds in no text (NUL) and without halves of characters. Markup stays as it is;
 * whoever shows it makes it safe.
 */
export function textOf(value: unknown, maxLength: number): string {
  if (typeof value !== 'string') return ''
  const text = value.replaceAll('\0', '')
  return (text.length <= maxLength ? text : text.slice(0, maxLength)).toWellFormed()
}

/** The same for one line. */
export const lineOf = (value: unknown, maxLength: number): string =>
  textOf(
    textOf(value, maxLength)
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim(),
    maxLength,
  )

/** Undefined for what no server counts by. */
export const idOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined

/** The last number that an issue may have, so that as many can follow. */
const LAST_NUMBER = 1_000_000_000

export function numberOf(value: unknown): number | undefined {
  const number = idOf(value)
  return number !== undefined && number <= LAST_NUMBER ? number : undefined
}

/** Undefined for what is no time, and for times before computers: by these clients mean none. */
export function timeOf(value: unknown): Date | undefined {
  const at = typeof value === 'string' ? parseTime(value) : undefined
  return at && at.getTime() > 0 ? at : undefined
}

/** A time that has passed; nothing was written in the future. */
export function pastTimeOf(value: unknown, now: Date): Date | undefined {
  const at = timeOf(value)
  return at && at <= now ? at : undefined
}
