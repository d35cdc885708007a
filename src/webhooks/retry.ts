import type { OutboundAnswer } from '../outbound/client.ts'
import type { OutboundError } from '../outbound/outbound-error.ts'

const FIRST_SECONDS = 5
const FACTOR = 3
const LONGEST_SECONDS = 4 * 3600
/** With these waits the last attempt comes about a day after the first. */
export const MAX_ATTEMPTS = 14
/** A receiver may ask for more patience, but not for days. */
const MAX_RETRY_AFTER_SECONDS = 6 * 3600

/** 425: too early; 429: too many. All of them may pass. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429])

export type Verdict = 'delivered' | 'again' | 'never'

/** What an attempt came to. Redirects that were not followed, and all other 3xx and 4xx, are the receiver's last word. */
export function judgeAnswer({ status }: OutboundAnswer): Verdict {
  if (status >= 200 && status < 300) return 'delivered'
  return status >= 500 || PASSING.has(status) ? 'again' : 'never'
}

/** A forbidden address stays forbidden; whatever else went wrong may be right the next time. */
export const judgeError = ({ problem }: OutboundError): Verdict =>
  problem === 'refused' || problem === 'redirect' ? 'never' : 'again'

/**
 * Time of the next attempt: 5 seconds and three times as long each time, up to four hours, a fifth more or less so that receivers that come
 * back are not met by all at once; later where the receiver asks for it (RFC 9110, 10.2.3).
 * @param attempts that were made
 */
export function nextAttempt(attempts: number, now: Date, retryAfter: string | undefined): Date {
  const seconds = Math.min(LONGEST_SECONDS, FIRST_SECONDS * FACTOR ** (attempts - 1)) * (0.8 + 0.4 * Math.random())
  return new Date(now.getTime() + Math.max(seconds, readRetryAfter(retryAfter, now)) * 1000)
}

function readRetryAfter(text: string | undefined, now: Date): number {
  if (text === undefined) return 0
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_SECONDS)
}
