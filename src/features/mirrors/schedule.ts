import type { Config } from '../../config.ts'
import { parseDuration } from '../../kernel/duration.ts'

const FIRST_RETRY_SECONDS = 60
const LONGEST_RETRY_SECONDS = 24 * 3600
/** Tries of a copy that is made once; then it waits for somebody who asks for it. */
export const MAX_COPY_TRIES = 8

/** Seconds, 0 for never by the clock; undefined for what is no interval, and for a shorter one than the site allows. */
export function readInterval(text: string, { mirrorMinInterval }: Config): number | undefined {
  const seconds = parseDuration(text)
  if (seconds === undefined || !Number.isSafeInteger(Math.round(seconds))) return undefined
  const whole = Math.round(seconds)
  // Longer ones than the column holds are as good as never.
  return seconds === 0 || whole >= mirrorMinInterval * 60 ? Math.min(whole, 2 ** 31 - 1) : undefined
}

/** After a success: an interval later. Null: not by the clock. */
export const nextTurn = (now: Date, intervalSeconds: number): Date | null =>
  intervalSeconds === 0 ? null : new Date(now.getTime() + intervalSeconds * 1000)

/** After so many failures in a row: a minute, four, a quarter of an hour... a day at most. */
export const nextTry = (now: Date, failures: number): Date =>
  new Date(now.getTime() + Math.min(FIRST_RETRY_SECONDS * 4 ** (failures - 1), LONGEST_RETRY_SECONDS) * 1000)
