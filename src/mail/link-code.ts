import { randomHex, sha256Hex } from '../kernel/hashing.ts'

const HOUR_MS = 3_600_000

/** Of a link that works once. The letter carries `code`; the database has its hash, and the end of its time. */
export interface LinkCode {
  code: string
  codeHash: string
  expiresAt: Date
}

/** A secret of 256 bits for a link in a letter. */
export function makeLinkCode(now: Date, hours: number): LinkCode {
  const code = randomHex(32)
  return { code, codeHash: sha256Hex(code), expiresAt: new Date(now.getTime() + hours * HOUR_MS) }
}

/** The hash that a code is found by; undefined for a text that no link carries. */
export const hashOfLinkCode = (code: string | undefined): string | undefined =>
  code !== undefined && /^[0-9a-f]{64}$/.test(code) ? sha256Hex(code) : undefined

/** What a letter says about the time of its link. */
export const hoursInWords = (hours: number): string => (hours === 1 ? 'an hour' : `${hours} hours`)
