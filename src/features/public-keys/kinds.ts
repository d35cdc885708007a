import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { type BlobReader, KeyFault } from '../../kernel/ssh-blob.ts'

/** Smaller ones can be broken; larger ones cost the service more than they give. */
const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 16384

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** The fields of each kind of key that may sign in, after the name of the kind. A kind that is not here is refused. */
const kinds = new Map<string, (blob: BlobReader) => void>([
  ['ssh-rsa', readRsa],
  ['ssh-ed25519', readEd25519],
  ['ecdsa-sha2-nistp256', readEcdsa('nistp256', 'P-256', 32)],
  ['ecdsa-sha2-nistp384', readEcdsa('nistp384', 'P-384', 48)],
  ['ecdsa-sha2-nistp521', readEcdsa('nistp521', 'P-521', 66)],
  ['sk-ssh-ed25519@openssh.com', withApplication(readEd25519)],
  ['sk-ecdsa-sha2-nistp256@openssh.com', withApplication(readEcdsa('nistp256', 'P-256', 32))],
])

/** Reads the rest of a key and checks that it is a real one. @throws KeyFault */
export function checkKey(kind: string, blob: BlobReader): void {
  const read = kinds.get(kind)
  if (read === undefined) throw new KeyFault(`keys of the kind ${JSON.stringify(kind.slice(0, 60))} are not taken`)
  read(blob)
  blob.end()
}

/** RFC 4253, 6.6. */
function readRsa(blob: BlobReader): void {
  const exponent = blob.positive()
  const modulus = blob.positive()
  const [first = 0] = modulus
  const bits = modulus.length * 8 - Math.clz32(first) + 24
  if (bits < MIN_RSA_BITS) throw new KeyFault(`an RSA key needs ${MIN_RSA_BITS} bits, this one has ${bits}`)
  if (bits > MAX_RSA_BITS) throw new KeyFault(`an RSA key may have ${MAX_RSA_BITS} bits, this one has ${bits}`)
  const isSmallest = exponent.length === 1 && (exponent[0] ?? 0) < 3
  if (isSmallest || exponent.length > 8 || isEven(exponent) || isEven(modulus))
    throw new KeyFault('it is no real RSA key')
}

const isEven = (bytes: Uint8Array): boolean => ((bytes.at(-1) ?? 0) & 1) === 0

/** RFC 8709, 4. */
function readEd25519(blob: BlobReader): void {
  const point = blob.string()
  if (point.length !== 32) throw new KeyFault('an Ed25519 key has 32 bytes')
  requireReal({ kty: 'OKP', crv: 'Ed25519', x: base64url(point) })
}

/** RFC 5656, 3.1; only points that are not compressed, as OpenSSH writes them. */
function readEcdsa(curve: string, crv: string, size: number): (blob: BlobReader) => void {
  return (blob) => {
    if (blob.text() !== curve) throw new KeyFault('its curve is not that of its kind')
    const point = blob.string()
    if (point.length !== 1 + 2 * size || point[0] !== 4) throw new KeyFault('its point has the wrong form')
    const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)]
    requireReal({ kty: 'EC', crv, x: base64url(x), y: base64url(y) })
  }
}

/** Keys that live in a security token name the application that they were made for (OpenSSH, PROTOCOL.u2f). */
function withApplication(read: (blob: BlobReader) => void): (blob: BlobReader) => void {
  return (blob) => {
    read(blob)
    const application = blob.text()
    if (!/^ssh:[\x20-\x7e]{0,250}$/.test(application)) throw new KeyFault('its application does not begin with ssh:')
  }
}

/** The cryptographic library refuses points that are not on their curve. */
function requireReal(key: JsonWebKey): void {
  try {
    createPublicKey({ key, format: 'jwk' })
  } catch {
    throw new KeyFault('its point is not on its curve')
  }
}
