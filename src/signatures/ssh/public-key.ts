import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify as verifyBytes } from 'node:crypto'
import { BlobReader, blobString, KeyFault } from '../../kernel/ssh-blob.ts'

/** A key of an account or of the instance, able to verify. */
export interface SshKey {
  /** @param signed the bytes that are signed. @param signature in the form of SSH, with its algorithm first */
  hasSigned(signed: Uint8Array, signature: Uint8Array): boolean
}

/** `SHA256:` and base64 without padding, as ssh-keygen -l shows it. */
export const fingerprintOf = (blob: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`

/** @throws KeyFault for a key that cannot be taken */
export function readSshKey(blob: Uint8Array): SshKey {
  const reader = new BlobReader(blob)
  const kind = reader.text()
  const read = kinds.get(kind)
  if (!read) throw new KeyFault('its kind is not taken')
  const isSigned = read(reader)
  reader.end()
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

type IsSigned = (algorithm: string, signature: BlobReader, signed: Uint8Array) => boolean

const kinds = new Map<string, (reader: BlobReader) => IsSigned>([
  ['ssh-ed25519', ed25519],
  ['ssh-rsa', rsa],
  ['ecdsa-sha2-nistp256', ecdsa('P-256', 32, 'sha256')],
  ['ecdsa-sha2-nistp384', ecdsa('P-384', 48, 'sha384')],
  ['ecdsa-sha2-nistp521', ecdsa('P-521', 66, 'sha512')],
  ['sk-ssh-ed25519@openssh.com', inToken(ed25519, 'ssh-ed25519')],
  ['sk-ecdsa-sha2-nistp256@openssh.com', inToken(ecdsa('P-256', 32, 'sha256'), 'ecdsa-sha2-nistp256')],
])

/** RFC 8709, 6. */
function ed25519(reader: BlobReader): IsSigned {
  const key = imported({ kty: 'OKP', crv: 'Ed25519', x: base64url(reader.string()) })
  return (algorithm, signature, signed) =>
    algorithm === 'ssh-ed25519' && verifyBytes(null, signed, key, signature.string())
}

const rsaHashes = new Map([
  ['rsa-sha2-256', 'sha256'],
  ['rsa-sha2-512', 'sha512'],
])

/** RFC 8332, 3; never with SHA-1. */
function rsa(reader: BlobReader): IsSigned {
  const [exponent, modulus] = [reader.positive(), reader.positive()]
  const key = imported({ kty: 'RSA', n: base64url(modulus), e: base64url(exponent) })
  return (algorithm, signature, signed) => {
    const hash = rsaHashes.get(algorithm)
    const value = fitted(signature.string(), modulus.length)
    return hash !== undefined && value !== undefined && verifyBytes(hash, signed, key, value)
  }
}

/** RFC 5656, 3.1. */
function ecdsa(crv: string, size: number, hash: string): (reader: BlobReader) => IsSigned {
  return (reader) => {
    reader.string()
    const point = reader.string()
    const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)]
    const key = imported({ kty: 'EC', crv, x: base64url(x), y: base64url(y) })
    const algorithmOf = `ecdsa-sha2-nistp${crv.slice(2)}`
    return (algorithm, signature, signed) => {
      const pair = new BlobReader(signature.string())
      const [one, other] = [fitted(pair.positive(), size), fitted(pair.positive(), size)]
      if (algorithm !== algorithmOf || !one || !other) return false
      return verifyBytes(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.concat([one, other]))
    }
  }
}

const PRESENT = 1

/** A security token signs a summary, with the application it is for and whether somebody touched it (OpenSSH, PROTOCOL.u2f). */
function inToken(plain: (reader: BlobReader) => IsSigned, plainAlgorithm: string): (reader: BlobReader) => IsSigned {
  return (reader) => {
    const isSigned = plain(reader)
    const application = sha256(reader.string())
    return (algorithm, signature, signed) => {
      const value = signature.string()
      const state = signature.rest()
      const [flags = 0] = state
      if (algorithm !== `sk-${plainAlgorithm}@openssh.com` || state.length !== 5 || (flags & PRESENT) === 0)
        return false
      const inner = new BlobReader(blobString(value))
      return isSigned(plainAlgorithm, inner, Buffer.concat([application, state, sha256(signed)]))
    }
  }
}

/** With zeros before it up to the length, which some programs leave out. */
function fitted(bytes: Uint8Array, length: number): Uint8Array | undefined {
  if (bytes.length > length) return undefined
  return Buffer.concat([Buffer.alloc(length - bytes.length), bytes])
}

function imported(key: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key, format: 'jwk' })
  } catch {
    throw new KeyFault('it is no real key')
  }
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
