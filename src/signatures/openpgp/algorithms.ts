import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { PacketFault, PacketReader, padded } from './reader.ts'

/** RFC 9580, 9.1. Only those by which OpenPGP keys sign, and those by which they are written to. */
const RSA = 1
const ECDSA = 19
const EDDSA_LEGACY = 22
const ED25519 = 27
const signing: ReadonlySet<number> = new Set([RSA, 3, ECDSA, EDDSA_LEGACY, ED25519])
/** RSA, RSA for encryption alone, Elgamal, ECDH, X25519, X448. */
const encrypting: ReadonlySet<number> = new Set([RSA, 2, 16, 18, 25, 26])

export const canSignBy = (algorithm: number): boolean => signing.has(algorithm)
export const canEncryptBy = (algorithm: number): boolean => encrypting.has(algorithm)

/** Smaller ones can be broken; larger ones cost the service more than they give. */
const MIN_RSA_BITS = 2048
const MAX_RSA_BYTES = 1024

/** Curves by their object identifier, with the bytes of a coordinate. */
const curves = new Map([
  ['2a8648ce3d030107', { crv: 'P-256', size: 32 }],
  ['2b81040022', { crv: 'P-384', size: 48 }],
  ['2b81040023', { crv: 'P-521', size: 66 }],
])
const ED25519_LEGACY = '2b06010401da470f01'

/** How the key takes part in a signature. */
export interface Verifier {
  key: KeyObject
  /** Reads the numbers of a signature into the form that the cryptographic library takes; undefined when they cannot be right. */
  encode(values: PacketReader): Uint8Array | undefined
  /** Signs the hash of what is signed, as Ed25519 does here, rather than what is signed. */
  signsHash: boolean
}

/** @param material what follows the algorithm in a packet of a key. @throws PacketFault for a key that cannot be taken */
export function readVerifier(algorithm: number, material: Uint8Array): Verifier {
  const reader = new PacketReader(material)
  if (algorithm === RSA || algorithm === 3) return rsa(reader)
  if (algorithm === ECDSA) return ecdsa(reader)
  if (algorithm === EDDSA_LEGACY) return eddsaLegacy(reader)
  if (algorithm === ED25519) return ed25519(reader.take(32), (values) => values.take(64))
  throw new PacketFault(`is of a kind (${algorithm}) whose signatures are not taken`)
}

function rsa(reader: PacketReader): Verifier {
  const [modulus, exponent] = [reader.number(), reader.number()]
  const bits = modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24
  if (bits < MIN_RSA_BITS) throw new PacketFault(`is an RSA key of ${bits} bits, and needs ${MIN_RSA_BITS}`)
  if (modulus.length > MAX_RSA_BYTES) throw new PacketFault(`is an RSA key of more than ${MAX_RSA_BYTES * 8} bits`)
  if (exponent.length > 4 || ((exponent.at(-1) ?? 0) & 1) === 0 || (exponent.length === 1 && (exponent[0] ?? 0) < 3))
    throw new PacketFault('is no real RSA key')
  const key = imported({ kty: 'RSA', n: base64url(modulus), e: base64url(exponent) })
  return { key, signsHash: false, encode: (values) => padded(values.number(), modulus.length) }
}

function ecdsa(reader: PacketReader): Verifier {
  const curve = curves.get(hexOf(reader.take(reader.byte())))
  if (!curve) throw new PacketFault('is on a curve that is not taken')
  const { crv, size } = curve
  const point = reader.number()
  if (point.length !== 1 + 2 * size || point[0] !== 4) throw new PacketFault('has a point of the wrong form')
  const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)]
  const key = imported({ kty: 'EC', crv, x: base64url(x), y: base64url(y) })
  return { key, signsHash: false, encode: (values) => pair(values, size) }
}

function eddsaLegacy(reader: PacketReader): Verifier {
  if (hexOf(reader.take(reader.byte())) !== ED25519_LEGACY) throw new PacketFault('is on a curve that is not taken')
  const point = reader.number()
  if (point.length !== 33 || point[0] !== 0x40) throw new PacketFault('has a point of the wrong form')
  return ed25519(point.subarray(1), (values) => pair(values, 32))
}

function ed25519(point: Uint8Array, encode: Verifier['encode']): Verifier {
  return { key: imported({ kty: 'OKP', crv: 'Ed25519', x: base64url(point) }), signsHash: true, encode }
}

/** Two numbers of a fixed length, one behind the other. */
function pair(values: PacketReader, size: number): Uint8Array | undefined {
  const [one, other] = [padded(values.number(), size), padded(values.number(), size)]
  return one && other && Buffer.concat([one, other])
}

function imported(key: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key, format: 'jwk' })
  } catch {
    throw new PacketFault('is no real key')
  }
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
