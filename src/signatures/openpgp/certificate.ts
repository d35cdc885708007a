import { isEmailAddress } from '../../kernel/email.ts'
import { canEncryptBy, canSignBy } from './algorithms.ts'
import { readArmor } from './armor.ts'
import { addressOf, type Component, readComponents } from './components.ts'
import { type PublicKey, readPublicKey } from './public-key.ts'
import { PacketFault } from './reader.ts'
import { type SelfSignatures, selfSignaturesOf } from './self-signatures.ts'
import { KeyFlag, type Signature, SignatureType } from './signature.ts'

/** Signatures of others swell the keys of well-known people. Larger texts are refused before anything looks at them. */
export const MAX_CERTIFICATE_TEXT_LENGTH = 512 * 1024

export interface CertifiedKey {
  key: PublicKey
  createdAt: Date
  /** null: never. */
  expiresAt: Date | null
  canSign: boolean
  canCertify: boolean
  canEncryptComms: boolean
  canEncryptStorage: boolean
}

/** A key with what its owner has signed of it. */
export interface Certificate {
  primary: CertifiedKey
  subkeys: CertifiedKey[]
  /** Addresses of the user ids, as they are written there, each once. */
  emails: string[]
  /** All packets as they came. */
  bytes: Uint8Array
}

/**
 * Reads an armored public key and believes of it only what its primary key has signed: user ids, subkeys (where they sign, with
 * their own consent), uses and ends. Revoked subkeys and user ids, and those that cannot be verified, are left out.
 * @throws PacketFault for what is no such key, and for one that was revoked
 */
export function readCertificate(armored: string, now: Date): Certificate {
  if (armored.length > MAX_CERTIFICATE_TEXT_LENGTH) throw new PacketFault('is too long')
  if (armored.includes('PRIVATE KEY BLOCK')) throw new PacketFault('is a private key, which nobody else may ever see')
  const bytes = readArmor(armored, 'PUBLIC KEY BLOCK')
  const [first, ...others] = readComponents(bytes)
  const key = readPublicKey(first.packet)
  key.verifier()
  const signed = selfSignaturesOf(key, now)
  if (signed.isRevoked(first)) throw new PacketFault('was revoked')
  const userIds = others.filter(({ kind }) => kind === 'userId').flatMap((userId) => certified(userId, signed))
  const direct = signed.newest(first, [SignatureType.directKey])
  const ruling = rulingSignatures(key, userIds, direct)
  if (ruling.length === 0) throw new PacketFault('has no user id that it has signed')
  const primary = { key, ...lifeOf(key, ruling), ...usesOf(key, ruling) }
  const subkeys = others.filter(({ kind }) => kind === 'subkey').flatMap((subkey) => bound(subkey, primary, signed))
  const emails = userIds.map(({ component }) => addressOf(component)).filter(isEmailAddress)
  const distinct = new Map(emails.map((email) => [email.toLowerCase(), email]))
  return { primary, subkeys, emails: [...distinct.values()], bytes }
}

interface CertifiedUserId {
  component: Component
  signature: Signature
}

function certified(component: Component, signed: SelfSignatures): CertifiedUserId[] {
  const { certification, certificationRevocation } = SignatureType
  const types = [certification, certification + 1, certification + 2, certification + 3]
  const signature = signed.newest(component, types)
  const revocation = signature && signed.newest(component, [certificationRevocation])
  if (!signature || (revocation && revocation.createdAt >= signature.createdAt)) return []
  return [{ component, signature }]
}

/** The signatures that say what holds for the whole key, what counts most first (RFC 9580, 5.2.3.10). */
function rulingSignatures(
  { version }: PublicKey,
  userIds: readonly CertifiedUserId[],
  direct: Signature | undefined,
): Signature[] {
  const best = userIds
    .map(({ signature }) => signature)
    .toSorted((a, b) => Number(b.isPrimaryUserId) - Number(a.isPrimaryUserId) || b.createdAt - a.createdAt)
    .slice(0, 1)
  if (!direct) return best
  return version === 6 ? [direct, ...best] : [...best, direct]
}

function lifeOf(
  { createdAt }: PublicKey,
  signatures: readonly Signature[],
): Pick<CertifiedKey, 'createdAt' | 'expiresAt'> {
  const seconds = signatures.find(({ keyExpiresAfter }) => keyExpiresAfter !== undefined)?.keyExpiresAfter ?? 0
  return { createdAt: dateOf(createdAt), expiresAt: seconds === 0 ? null : dateOf(createdAt + seconds) }
}

/** Where nothing is said, a key may do what its kind can. */
function usesOf(
  { algorithm }: PublicKey,
  signatures: readonly Signature[],
): Omit<CertifiedKey, 'key' | 'createdAt' | 'expiresAt'> {
  const flags = signatures.find((signature) => signature.flags !== undefined)?.flags
  const may = (flag: number) => flags === undefined || (flags & flag) !== 0
  return {
    canSign: canSignBy(algorithm) && may(KeyFlag.sign),
    canCertify: canSignBy(algorithm) && may(KeyFlag.certify),
    canEncryptComms: canEncryptBy(algorithm) && may(KeyFlag.encryptComms),
    canEncryptStorage: canEncryptBy(algorithm) && may(KeyFlag.encryptStorage),
  }
}

/** A subkey that signs has signed its primary key in turn: nobody makes the subkey of another their own. */
function bound(component: Component, primary: CertifiedKey, signed: SelfSignatures): CertifiedKey[] {
  const key = understood(component)
  const binding = key && signed.newest(component, [SignatureType.subkeyBinding])
  if (!binding || signed.newest(component, [SignatureType.subkeyRevocation])) return []
  const uses = usesOf(key, [binding])
  const isSigning = uses.canSign && signed.isConsented(component, key, binding)
  if (uses.canSign && !isSigning && binding.flags !== undefined) return []
  const life = lifeOf(key, [binding])
  const ends = [life.expiresAt, primary.expiresAt].filter((end) => end !== null).toSorted((a, b) => +a - +b)
  return [{ key, ...life, expiresAt: ends[0] ?? null, ...uses, canSign: isSigning, canCertify: false }]
}

/** A subkey of a kind that is not taken spoils nothing else. */
function understood({ packet }: Component): PublicKey | undefined {
  try {
    return readPublicKey(packet)
  } catch (error) {
    if (error instanceof PacketFault) return undefined
    throw error
  }
}

const dateOf = (seconds: number): Date => new Date(seconds * 1000)
