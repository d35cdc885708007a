import { TOTP } from 'otpauth'
import { constantTimeEqual } from '../kernel/hashing.ts'

/** RFC 6238 with what every authenticator application knows: SHA-1, six digits, thirty seconds. */
const PARAMETERS = { algorithm: 'SHA1', digits: 6, period: 30 } as const

/** Steps before and after the present one that are taken too: clocks differ. */
const WINDOW = 1

export const stepAt = (at: Date): number => Math.floor(at.getTime() / 1000 / PARAMETERS.period)

/** The step whose code this is, among the present one and its neighbours; undefined for any other code. */
export function stepOfCode(secret: string, code: string, at: Date): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const totp = new TOTP({ ...PARAMETERS, secret })
  const present = stepAt(at)
  let found: number | undefined
  for (let step = present - WINDOW; step <= present + WINDOW; step += 1) {
    const expected = totp.generate({ timestamp: step * PARAMETERS.period * 1000 })
    if (constantTimeEqual(expected, code)) found = step
  }
  return found
}

/** The address that authenticator applications read from a QR code (Key URI Format). */
export const otpauthUrl = (secret: string, { issuer, account }: { issuer: string; account: string }): string =>
  new TOTP({ ...PARAMETERS, secret, issuer, label: account }).toString()
