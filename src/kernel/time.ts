/** The one clock. Rules take the time from here, so that tests can set it. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** Wire: how Gitea writes "never" where the field is about Unix time. */
export const EPOCH_TIME = '1970-01-01T00:00:00Z'
/** Wire: how Gitea writes "never" where the field is a zero time. */
export const ZERO_TIME = '0001-01-01T00:00:00Z'

/** RFC 3339 in UTC with whole seconds, the only form of a time on the wire. */
export const wireTime = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`

export const wireTimeOr = (at: Date | null | undefined, never: string): string => (at ? wireTime(at) : never)

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

/** Reads an RFC 3339 time; undefined for anything else, impossible dates included. */
export function parseTime(text: string): Date | undefined {
  if (!RFC3339.test(text)) return undefined
  const at = new Date(text.replace(' ', 'T').toUpperCase())
  if (Number.isNaN(at.getTime())) return undefined
  const day = Number(text.slice(8, 10))
  const daysInMonth = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate()
  return day <= daysInMonth ? at : undefined
}

/**
 * What a client gave for a time: undefined when absent or impossible. Wire: null for year one, by which clients that always send
 * every key mean none.
 */
export function givenTime(text: string | undefined): Date | null | undefined {
  const at = text === undefined ? undefined : parseTime(text)
  return at && wireTime(at) === ZERO_TIME ? null : at
}

/** Midnight in UTC of a day such as `2026-01-31`; undefined for anything else, impossible days included. */
export const parseDay = (text: string): Date | undefined =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTime(`${text}T00:00:00Z`) : undefined
