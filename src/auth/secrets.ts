import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { unavailable } from '../kernel/errors.ts'

/** What is sealed in the database. Where each of them lies: src/secret-key/sealed-places.ts. */
export type StoredPurpose =
  | 'two-factor'
  | 'hook secret'
  | 'hook authorization'
  | 'hook url'
  | 'mirror credentials'
  | 'actions secret'
  | 'actions masks'
  | 'runner registration'
  | 'auth source secret'
  | 'oauth signing key'
  | 'mail'
  | 'password recovery'

/** What a sealed text is for: one sealed for another purpose does not open. The last two are sealed into cookies that live ten minutes. */
export type SealPurpose = StoredPurpose | 'pending sign-in' | 'provider sign-in'

/** Encrypts the secrets that must be read back, so that the database alone gives none away. */
export interface Secrets {
  /** With the present key. */
  seal(purpose: SealPurpose, text: string): Uint8Array
  /** With the present key or the previous one. @throws Refusal 503, which says so, when it was sealed with another key or for another purpose, or was changed */
  open(purpose: SealPurpose, sealed: Uint8Array): string
  /** The same, but undefined where it cannot be opened. */
  tryOpen(purpose: SealPurpose, sealed: Uint8Array): string | undefined
  /** Which key opens it, if one does. */
  keyOf(purpose: SealPurpose, sealed: Uint8Array): 'present' | 'previous' | undefined
  /** 32 bytes (HMAC-SHA-256) that only this instance can make of a text that it hands out in the open. */
  sign(purpose: string, text: string): Uint8Array
  /** All that count as `sign`'s, its own first: the previous key's do too, for what was handed out before the key changed. */
  signatures(purpose: string, text: string): [Uint8Array, ...Uint8Array[]]
  /** The same for the same instance key, and for no other. */
  readonly fingerprint: string
  /** The previous key's, where there is one that is not the same. */
  readonly previousFingerprint: string | undefined
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FINGERPRINT_DIGITS = 32

/**
 * AES-256-GCM under a key of its own for each purpose (HKDF). A sealed value is version, nonce, tag and text.
 * @param presentKey the secret of the whole instance, from the settings or from DATA_DIR
 * @param previousKey the one before, which still opens and checks
 */
export function createSecrets(presentKey: string, previousKey?: string): Secrets {
  const present = deriveKeys(presentKey)
  const previous = previousKey === undefined || previousKey === presentKey ? undefined : deriveKeys(previousKey)
  const tryOpen: Secrets['tryOpen'] = (purpose, sealed) =>
    tryDecrypt(present(purpose), sealed) ?? (previous && tryDecrypt(previous(purpose), sealed))
  return {
    fingerprint: fingerprintOf(present),
    previousFingerprint: previous && fingerprintOf(previous),
    sign: (purpose, text) => hmac(present(purpose), text),
    signatures: (purpose, text) => [
      hmac(present(purpose), text),
      ...(previous === undefined ? [] : [hmac(previous(purpose), text)]),
    ],
    tryOpen,
    keyOf(purpose, sealed) {
      if (tryDecrypt(present(purpose), sealed) !== undefined) return 'present'
      return tryOpen(purpose, sealed) === undefined ? undefined : 'previous'
    },
    seal(purpose, text) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', present(purpose), nonce)
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

/** A key of its own for each purpose. */
type KeyFor = (purpose: string) => Uint8Array

function deriveKeys(instanceKey: string): KeyFor {
  const keys = new Map<string, Uint8Array>()
  return (purpose) => {
    const known = keys.get(purpose)
    if (known) return known
    const key = new Uint8Array(hkdfSync('sha256', instanceKey, 'hearth', purpose, 32))
    keys.set(purpose, key)
    return key
  }
}

const hmac = (key: Uint8Array, text: string): Uint8Array =>
  new Uint8Array(createHmac('sha256', key).update(text).digest())

const fingerprintOf = (keyFor: KeyFor): string =>
  Buffer.from(hmac(keyFor('fingerprint'), 'hearth'))
    .toString('hex')
    .slice(0, FINGERPRINT_DIGITS)

function tryDecrypt(key: Uint8Array, sealed: Uint8Array): string | undefined {
  try {
    return decrypt(key, sealed)
  } catch {
    // Whatever the reason is, nobody can read it with this key.
    return undefined
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
