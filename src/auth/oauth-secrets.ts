import { randomBytes } from 'node:crypto'

/** What each kind of secret of OAuth begins with, so that scanners find one that leaked. Wire: `gta_` and `gto_`. */
const PREFIXES = { client: 'gto_' } as const
export type OAuthSecretKind = keyof typeof PREFIXES

/** 32 random bytes in base32. */
export const makeOAuthSecret = (kind: OAuthSecretKind): string => PREFIXES[kind] + base32(randomBytes(32))

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648, in lower case and without padding. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET.charAt((value >>> bits) & 31)
    }
    value &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + ALPHABET.charAt((value << (5 - bits)) & 31)
}
