import { randomBytes } from 'node:crypto'

/** What each kind of secret of OAuth begins with, so that scanners find one that leaked. Wire: `gta_` and `gto_`. */
const PREFIXES = {
  code: 'gta_',
  client: 'gto_',
  access: 'gtu_',
  refresh: 'gtr_',
  device: 'gtd_',
} as const
export type OAuthSecretKind = keyof typeof PREFIXES

/** 32 bytes in base32. */
const TEXT = '[a-z2-7]{52}'

export const OAUTH_TOKEN_PATTERN = new RegExp(`^${PREFIXES.access}${TEXT}$`)
const REFRESH_PATTERN = new RegExp(`^${PREFIXES.refresh}(${TEXT})(${TEXT})$`)

export const makeOAuthSecret = (kind: OAuthSecretKind): string => PREFIXES[kind] + base32(randomBytes(32))

/** A secret that can be made again from the same bytes. @param bytes 32 of them */
export const oauthSecretFrom = (kind: OAuthSecretKind, bytes: Uint8Array): string => PREFIXES[kind] + base32(bytes)

/** The handle finds the family, the secret changes with each use. */
export interface RefreshToken {
  handle: string
  secret: string
}

export const makeRefreshToken = (): RefreshToken => ({
  handle: base32(randomBytes(32)),
  secret: base32(randomBytes(32)),
})

export const writeRefreshToken = ({ handle, secret }: RefreshToken): string => `${PREFIXES.refresh}${handle}${secret}`

/** Undefined for a text that is no refresh token. */
export function readRefreshToken(text: string): RefreshToken | undefined {
  const [, handle, secret] = REFRESH_PATTERN.exec(text) ?? []
  return handle === undefined || secret === undefined ? undefined : { handle, secret }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648, in lower case and without padding. */
export function base32(bytes: Uint8Array): string {
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
