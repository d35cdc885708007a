import { createHash, verify as verifyBytes } from 'node:crypto'
import { newLength, uint32 } from './packets.ts'
import type { PublicKey } from './public-key.ts'
import { PacketFault, PacketReader } from './reader.ts'

/** What a signature is about (RFC 9580, 5.2.1). */
export const SignatureType = {
  binary: 0x00,
  text: 0x01,
  /** 0x10 to 0x13 differ in how well somebody claims to have looked. */
  certification: 0x10,
  lastCertification: 0x13,
  subkeyBinding: 0x18,
  primaryKeyBinding: 0x19,
  directKey: 0x1f,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
  certificationRevocation: 0x30,
} as const

/** What a key may be used for (RFC 9580, 5.2.3.29). */
export const KeyFlag = { certify: 1, sign: 2, encryptComms: 4, encryptStorage: 8 } as const

const hashes = new Map([
  [2, 'sha1'],
  [8, 'sha256'],
  [9, 'sha384'],
  [10, 'sha512'],
  [11, 'sha224'],
  [12, 'sha3-256'],
  [14, 'sha3-512'],
])

export interface Signature {
  version: number
  type: number
  algorithm: number
  /** Name of the hash function; undefined for one that is not taken. */
  hash: string | undefined
  /** Seconds since 1970. */
  createdAt: number
  /** Seconds from then until it ends; 0 or undefined: never. */
  expiresAfter?: number
  /** Seconds from the key's creation until the key ends; 0 or undefined: never. */
  keyExpiresAfter?: number
  flags?: number
  isPrimaryUserId: boolean
  /** Who claims to have made it: in capitals, one of the two or both. Only a hint. */
  issuer: { keyId?: string; fingerprint?: string }
  /** Signatures inside, as a subkey makes one over its primary key. */
  embedded: Uint8Array[]
  /** False when it carries a condition that must be understood and is not. */
  isUnderstood: boolean
  hashed: Uint8Array
  salt: Uint8Array
  /** The first two bytes of the hash. */
  beginning: number
  values: Uint8Array
}

/** @throws PacketFault for what is broken and for versions other than 4 and 6 */
export function readSignature(body: Uint8Array): Signature {
  const reader = new PacketReader(body)
  const version = reader.byte()
  if (version !== 4 && version !== 6) throw new PacketFault(`is a signature of version ${version}, which is not taken`)
  const length = () => (version === 6 ? reader.long() : reader.short())
  const [type, algorithm, hash] = [reader.byte(), reader.byte(), hashes.get(reader.byte())]
  const signature: Signature = {
    version,
    type,
    algorithm,
    hash,
    createdAt: -1,
    isPrimaryUserId: false,
    issuer: {},
    embedded: [],
    isUnderstood: true,
    hashed: new Uint8Array(),
    salt: new Uint8Array(),
    beginning: 0,
    values: new Uint8Array(),
  }
  readSubpackets(signature, reader.take(length()), true)
  signature.hashed = reader.since(0)
  readSubpackets(signature, reader.take(length()), false)
  signature.beginning = reader.short()
  if (version === 6) signature.salt = reader.take(reader.byte())
  signature.values = reader.rest()
  if (signature.createdAt < 0) throw new PacketFault('is a signature without a time')
  return signature
}

/** Only what is signed itself counts, but for hints that prove themselves. */
function readSubpackets(signature: Signature, bytes: Uint8Array, isSigned: boolean): void {
  const reader = new PacketReader(bytes)
  while (!reader.isAtEnd) {
    const content = new PacketReader(reader.take(newLength(reader, true)))
    const head = content.byte()
    const kind = head & 0x7f
    if (readHint(signature, kind, content) || !isSigned) continue
    if (!readFact(signature, kind, content) && head > 0x7f && !harmless.has(kind)) signature.isUnderstood = false
  }
}

/** What proves itself or is only a hint, and so counts wherever it stands. Returns whether it was such. */
function readHint({ issuer, embedded }: Signature, kind: number, content: PacketReader): boolean {
  if (kind === 16) issuer.keyId ??= hexOf(content.take(8))
  else if (kind === 32) embedded.push(content.rest())
  else if (kind === 33) {
    content.byte()
    issuer.fingerprint ??= hexOf(content.rest())
  } else return false
  return true
}

/** Returns whether it was a fact that verdicts depend on. */
function readFact(signature: Signature, kind: number, content: PacketReader): boolean {
  if (kind === 2) signature.createdAt = content.long()
  else if (kind === 3) signature.expiresAfter = content.long()
  else if (kind === 9) signature.keyExpiresAfter = content.long()
  else if (kind === 25) signature.isPrimaryUserId = content.byte() !== 0
  else if (kind === 27) signature.flags = content.isAtEnd ? 0 : content.byte()
  else return false
  return true
}

/** Known, and nothing that a verdict depends on: preferences, features, trust in others, reasons, where to find the key. */
const harmless: ReadonlySet<number> = new Set([4, 5, 6, 7, 11, 12, 21, 22, 23, 24, 26, 28, 29, 30, 31, 34, 35, 39])

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase()

/** Whether the signature says that this key made it. */
export function claimsToBeBy({ issuer }: Signature, key: Pick<PublicKey, 'fingerprint' | 'keyId'>): boolean {
  if (issuer.fingerprint !== undefined) return issuer.fingerprint === key.fingerprint
  return issuer.keyId === key.keyId
}

/** The identifier of the key that it says to be by; undefined when it says nothing. */
export function issuerKeyId({ issuer, version }: Signature): string | undefined {
  if (issuer.fingerprint === undefined) return issuer.keyId
  return version === 6 ? issuer.fingerprint.slice(0, 16) : issuer.fingerprint.slice(-16)
}

/** Whether the key made the signature over these parts. Who may sign what, and when, is judged elsewhere. */
export function isMadeBy(key: PublicKey, signature: Signature, parts: readonly Uint8Array[]): boolean {
  const { version, hash, hashed, salt, algorithm } = signature
  if (hash === undefined || !signature.isUnderstood) return false
  if (version !== key.version || algorithm !== key.algorithm) return false
  const signed = Buffer.concat([salt, ...parts, hashed, Buffer.of(version, 0xff), uint32(hashed.length)])
  const digest = createHash(hash).update(signed).digest()
  // Spares the work of the cryptographic library for what was made over something else.
  if (digest.readUInt16BE(0) !== signature.beginning) return false
  const values = readValues(key, signature)
  return values !== undefined && isRight(key, { hash, signed, digest }, values)
}

/** Undefined where the key cannot have made such numbers. */
function readValues(key: PublicKey, { values }: Signature): Uint8Array | undefined {
  try {
    return key.verifier().encode(new PacketReader(values))
  } catch (error) {
    if (error instanceof PacketFault) return undefined
    throw error
  }
}

function isRight(
  key: PublicKey,
  { hash, signed, digest }: { hash: string; signed: Uint8Array; digest: Uint8Array },
  values: Uint8Array,
): boolean {
  const verifier = key.verifier()
  try {
    if (verifier.signsHash) return verifyBytes(null, digest, verifier.key, values)
    return verifyBytes(hash, signed, { key: verifier.key, dsaEncoding: 'ieee-p1363' }, values)
  } catch {
    return false // The library throws for numbers that are out of range.
  }
}
