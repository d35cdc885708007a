import { createHash, createPublicKey, type KeyObject, verify as verifyBytes } from 'node:crypto'
import { utils } from 'ssh2'
import { isSmallOrder } from '../../kernel/ed25519.ts'
import { BlobReader, blobString, SshKeyError } from '../../kernel/ssh-blob.ts'

/** A key of an account or of the instance, able to verify. */
export interface SshKey {
  /** @param signed the bytes that are signed. @param signature in the form of SSH, with its algorithm first */
  hasSigned(signed: Uint8Array, signature: Uint8Array): boolean
}

/** `SHA256:` and base64 without padding, as ssh-keygen -l shows it. */
export const fingerprintOf = (blob: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`

/** Smaller ones can be broken; larger ones cost the service more than they give. */
const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 16384

/** By the kind of key: the algorithms of its signatures with their hashes. Never SHA-1 (RFC 8332); Ed25519 hashes by itself. */
const kinds = new Map<string, ReadonlyMap<string, string | null>>([
  ['ssh-ed25519', new Map([['ssh-ed25519', null]])],
  ['ssh-rsa', new Map([['rsa-sha2-256', 'sha256']]).set('rsa-sha2-512', 'sha512')],
  ['ecdsa-sha2-nistp256', new Map([['ecdsa-sha2-nistp256', 'sha256']])],
  ['ecdsa-sha2-nistp384', new Map([['ecdsa-sha2-nistp384', 'sha384']])],
  ['ecdsa-sha2-nistp521', new Map([['ecdsa-sha2-nistp521', 'sha512']])],
])

/** Keys that live in a security token, with the kind that they are of inside. ssh2 knows nothing of them. */
const tokenKinds = new Map([
  ['sk-ssh-ed25519@openssh.com', 'ssh-ed25519'],
  ['sk-ecdsa-sha2-nistp256@openssh.com', 'ecdsa-sha2-nistp256'],
])

/** @param blob as SSH writes a public key. @throws SshKeyError for a key that cannot be taken */
export function readSshKey(blob: Uint8Array): SshKey {
  const kind = new BlobReader(blob).text()
  const plainKind = tokenKinds.get(kind)
  const { isSigned } = plainKind === undefined ? readPlain(kind, blob) : readToken(kind, plainKind, blob)
  return {
    hasSigned(signed, signature) {
      const content = new BlobReader(signature)
      try {
        return isSigned(content.text(), content, signed)
      } catch {
        return false // Cut off, or numbers out of range, for which the cryptographic library throws.
      }
    },
  }
}

interface Verifier {
  isSigned(algorithm: string, signature: BlobReader, signed: Uint8Array): boolean
}

function readPlain(kind: string, blob: Uint8Array): Verifier {
  const hashes = kinds.get(kind)
  if (!hashes) throw new SshKeyError(`keys of the kind ${JSON.stringify(kind.slice(0, 60))} are not taken`)
  const parsed = utils.parseKey(`${kind} ${Buffer.from(blob).toString('base64')}`)
  if (parsed instanceof Error) throw new SshKeyError('its content is not that of its kind')
  const key = imported(parsed.getPublicPEM())
  const size = requireStrong(kind, blob, key)
  return {
    isSigned(algorithm, signature, signed) {
      const hash = hashes.get(algorithm)
      if (hash === undefined) return false
      const value = signature.string()
      if (kind === 'ssh-ed25519') return verifyBytes(hash, signed, key, value)
      if (kind === 'ssh-rsa') return verifyBytes(hash, signed, key, padded(value, size))
      const pair = new BlobReader(value)
      const numbers = Buffer.concat([padded(pair.positive(), size), padded(pair.positive(), size)])
      return verifyBytes(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, numbers)
    },
  }
}

function imported(pem: string): KeyObject {
  try {
    return createPublicKey(pem)
  } catch {
    throw new SshKeyError('it is no real key')
  }
}

/**
 * The library takes weak keys, and ignores what follows a key and the name of its curve. A key has one spelling here, because its
 * fingerprint is how it is known.
 * @returns bytes of the modulus, or of a coordinate
 */
function requireStrong(kind: string, blob: Uint8Array, key: KeyObject): number {
  const { x, y, n, e } = key.export({ format: 'jwk' })
  const [point, modulus, exponent] = [bytesOf(x), bytesOf(n), bytesOf(e)]
  const isSpelled = (...fields: Uint8Array[]) => {
    const content = [Buffer.from(kind), ...fields].map((field) => blobString(field))
    if (!Buffer.concat(content).equals(blob)) throw new SshKeyError('its content is not that of its kind')
  }
  if (kind === 'ssh-rsa') {
    const bits = modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24
    if (bits < MIN_RSA_BITS) throw new SshKeyError(`an RSA key needs ${MIN_RSA_BITS} bits, this one has ${bits}`)
    if (bits > MAX_RSA_BITS) throw new SshKeyError(`an RSA key may have ${MAX_RSA_BITS} bits, this one has ${bits}`)
    const isSmallest = exponent.length === 1 && (exponent[0] ?? 0) < 3
    if (isSmallest || exponent.length > 8 || isEven(exponent) || isEven(modulus))
      throw new SshKeyError('it is no real RSA key')
    isSpelled(signedNumber(exponent), signedNumber(modulus))
    return modulus.length
  }
  if (kind === 'ssh-ed25519') {
    if (isSmallOrder(point)) throw new SshKeyError('anybody could sign with this key')
    isSpelled(point)
  } else isSpelled(Buffer.from(kind.slice('ecdsa-sha2-'.length)), Buffer.concat([Buffer.of(4), point, bytesOf(y)]))
  return point.length
}

const bytesOf = (encoded = ''): Buffer => Buffer.from(encoded, 'base64url')
const isEven = (bytes: Uint8Array): boolean => ((bytes.at(-1) ?? 0) & 1) === 0

/** A zero keeps the sign of a number that would be negative (RFC 4251, 5). */
const signedNumber = (bytes: Uint8Array): Uint8Array =>
  (bytes[0] ?? 0) < 128 ? bytes : Buffer.concat([Buffer.of(0), bytes])

const PRESENT = 1
const APPLICATION = /^ssh:[\x20-\x7e]{0,250}$/

/** A security token signs a summary, with the application it is for and whether somebody touched it (OpenSSH, PROTOCOL.u2f). */
function readToken(kind: string, plainKind: string, blob: Uint8Array): Verifier {
  const reader = new BlobReader(blob)
  reader.string()
  const fields = plainKind === 'ssh-ed25519' ? [reader.string()] : [reader.string(), reader.string()]
  const application = reader.text()
  reader.end()
  if (!APPLICATION.test(application)) throw new SshKeyError('its application does not begin with ssh:')
  const plain = readPlain(
    plainKind,
    Buffer.concat([Buffer.from(plainKind), ...fields].map((field) => blobString(field))),
  )
  const summary = sha256(Buffer.from(application))
  return {
    isSigned(algorithm, signature, signed) {
      const value = signature.string()
      const state = signature.rest()
      const [flags = 0] = state
      if (algorithm !== kind || state.length !== 5 || (flags & PRESENT) === 0) return false
      const content = Buffer.concat([summary, state, sha256(signed)])
      return plain.isSigned(plainKind, new BlobReader(blobString(value)), content)
    },
  }
}

/** With zeros before it up to the length, which some programs leave out. @throws SshKeyError for a longer number */
function padded(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length > length) throw new SshKeyError('its signature is too long')
  return Buffer.concat([Buffer.alloc(length - bytes.length), bytes])
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
