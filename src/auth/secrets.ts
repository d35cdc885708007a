import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { unavailable } from '../kernel/errors.ts'

/** What a sealed secret is for: one sealed for another purpose does not open. */
export type SecretPurpose = 'two-factor' | (string & {})

/** Encrypts the secrets that must be read back, so that the database alone gives none away. */
export interface Secrets {
  seal(purpose: SecretPurpose, text: string): Uint8Array
  /** @throws Refusal 503, which says so, when it was sealed with another key or for another purpose, or was changed */
  open(purpose: SecretPurpose, sealed: Uint8Array): string
  /** The same, but undefined where it cannot be opened. */
  tryOpen(purpose: SecretPurpose, sealed: Uint8Array): string | undefined
  /** 32 bytes (HMAC-SHA-256) that only this instance can make of a text that it hands out in the open. */
  sign(purpose: SecretPurpose, text: string): Uint8Array
  /** The same for the same instance key, and for no other. */
  readonly fingerprint: string
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FINGERPRINT_DIGITS = 32

/**
 * AES-256-GCM under a key of its own for each purpose (HKDF). A sealed value is version, nonce, tag and text.
 * @param instanceKey the secret of the whole instance, from the settings or from DATA_DIR
 */
export function createSecrets(instanceKey: string): Secrets {
  const keys = new Map<string, Uint8Array>()
  const keyFor = (purpose: string) => {
    const known = keys.get(purpose)
    if (known) return known
    const key = new Uint8Array(hkdfSync('sha256', instanceKey, 'hearth', purpose, 32))
    keys.set(purpose, key)
    return key
  }
  const sign = (purpose: string, text: string) =>
    new Uint8Array(createHmac('sha256', keyFor(purpose)).update(text).digest())
  const tryOpen = (purpose: string, sealed: Uint8Array) => {
    try {
      return decrypt(keyFor(purpose), sealed)
    } catch {
      // Whatever the reason is, nobody can read it.
      return undefined
    }
  }
  return {
    fingerprint: Buffer.from(sign('fingerprint', 'hearth')).toString('hex').slice(0, FINGERPRINT_DIGITS),
    sign,
    tryOpen,
    seal(purpose, text) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), nonce)
      const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return new Uint8Array(Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), content]))
    },
    open(purpose, sealed) {
      const text = tryOpen(purpose, sealed)
      if (text === undefined)
        throw unavailable(`a stored secret (${purpose}) cannot be opened: it was sealed with another secret key`)
      return text
    },
  }
}

/** @throws Error for bytes that were not sealed with this key */
function decrypt(key: Uint8Array, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed)
  if (bytes[0] !== VERSION || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) throw new Error('not a sealed secret')
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAuthTag(bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES))
  const content = decipher.update(bytes.subarray(1 + NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([content, decipher.final()]).toString('utf8')
}
