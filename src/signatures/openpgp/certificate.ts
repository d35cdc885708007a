import { type Key, PacketList, readKeys, type SignaturePacket, type Subkey } from 'openpgp'
import { isEmailAddress } from '../../kernel/email.ts'
import { messageOf } from '../../kernel/thrown.ts'
import { isForgeable, isSigningAlgorithm, OpenPgpError, requireStrong, settings, TOLERANCE_MS } from './library.ts'
import type { Certificate, CertifiedKey } from './model.ts'

/** Far more than people have: a key made to cost time is refused. */
const MAX_PARTS = 250

/**
 * Reads an armored public key. Only what the primary key has signed counts: user ids, subkeys, uses and expiry. A signing subkey must have
 * signed back. What is revoked or cannot be verified is left out, and so are signatures of others.
 * @throws OpenPgpError for what is no such key, and for one that was revoked
 */
export async function readCertificate(armored: string, now: Date): Promise<Certificate> {
  const key = await readOnly(armored)
  requireStrong(key)
  if (key.users.length + key.subkeys.length > MAX_PARTS) throw new OpenPgpError('has too many user ids or subkeys')
  const latest = new Date(now.getTime() + TOLERANCE_MS)
  if (await key.isRevoked(undefined, undefined, latest, settings)) throw new OpenPgpError('was revoked')
  const primary = await readPrimary(key, latest)
  // The library throws where a signature does not hold: that user id is left out.
  const verified = await Promise.all(key.users.map((user) => user.verify(latest, settings).catch(() => false)))
  const subkeys = await Promise.all(key.subkeys.map((subkey) => readSubkey(key, subkey, { primary, latest })))
  key.users = key.users.filter((_, index) => verified[index])
  key.subkeys = key.subkeys.filter((_, index) => subkeys[index])
  for (const user of key.users) user.otherCertifications = []
  const emails = key.users.map(({ userID }) => userID?.email ?? '').filter(isEmailAddress)
  const distinct = new Map(emails.map((email) => [email.toLowerCase(), email]))
  return {
    primary,
    subkeys: subkeys.filter((subkey) => subkey !== undefined),
    emails: [...distinct.values()],
    bytes: key.write(),
  }
}

/** The one key in a text. @throws OpenPgpError */
async function readOnly(armored: string): Promise<Key> {
  if (armored.includes('PRIVATE KEY BLOCK')) throw new OpenPgpError('is a private key, which nobody else may ever see')
  const blocks = armored.split('-----BEGIN PGP PUBLIC KEY BLOCK-----').length - 1
  if (blocks === 0) throw new OpenPgpError('is no "PGP PUBLIC KEY BLOCK"')
  if (blocks > 1) throw new OpenPgpError('has more than one block')
  const keys = await readKeys({ armoredKeys: armored, config: settings }).catch((error: unknown) => {
    throw new OpenPgpError(`cannot be read: ${messageOf(error)}`)
  })
  const [key] = keys
  if (!key || keys.length > 1) throw new OpenPgpError('is more than one key')
  if (key.isPrivate()) throw new OpenPgpError('is a private key, which nobody else may ever see')
  return key
}

async function readPrimary(key: Key, latest: Date): Promise<CertifiedKey> {
  const expiresAt = await key.getExpirationTime(undefined, settings)
  const alive = whileAlive(expiresAt, latest)
  // Throws where no user id is signed.
  const user = alive && (await key.getPrimaryUser(alive, undefined, settings).catch(() => undefined))
  if (!user) throw new OpenPgpError('has no user id that it has signed')
  const uses = usesOf(key, user.selfCertification)
  return { ...factsOf(key), expiresAt: endOf(expiresAt), ...uses, canSign: await maySign(key, key, alive) }
}

/** A subkey of a kind that is not taken spoils nothing else. */
async function readSubkey(
  key: Key,
  subkey: Subkey,
  { primary, latest }: { primary: CertifiedKey; latest: Date },
): Promise<CertifiedKey | undefined> {
  const expiresAt = await subkey.getExpirationTime(latest, settings)
  const alive = whileAlive(expiresAt, latest)
  // Throws where the primary key has not signed it, or has revoked it.
  const binding = alive && (await subkey.verify(alive, settings).catch(() => undefined))
  if (!binding) return undefined
  const uses = usesOf(subkey, binding)
  const ends = [endOf(expiresAt), primary.expiresAt].filter((end) => end !== null)
  const first = ends.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null
  const canSign = uses.canSign && (await maySign(key, subkey, whileAlive(first ?? Infinity, latest)))
  // The back signature: otherwise anybody could claim the signing subkey of another person.
  if (uses.canSign && !canSign && binding.keyFlags) return undefined
  return { ...factsOf(subkey), expiresAt: first, ...uses, canSign, canCertify: false }
}

/** The latest moment at which the key lives. Undefined for one that never does. */
function whileAlive(expiresAt: Date | number | null, latest: Date): Date | undefined {
  if (expiresAt === null) return undefined
  return new Date(Math.min(latest.getTime(), Number(expiresAt) - 1000))
}

const endOf = (expiresAt: Date | number | null): Date | null => (expiresAt instanceof Date ? expiresAt : null)

/** Whether it was the key's own choice to sign, and the key is strong enough. */
async function maySign(key: Key, one: Key | Subkey, at: Date | undefined): Promise<boolean> {
  if (!at || isForgeable(one.keyPacket)) return false
  // Throws where the key may not sign, or is too weak.
  const found = await key.getSigningKey(one.getKeyID(), at, undefined, settings).catch(() => undefined)
  return found?.getFingerprint() === one.getFingerprint()
}

/** What a key may be used for (RFC 9580, 5.2.3.29). */
const KeyFlag = { certify: 1, sign: 2, encryptComms: 4, encryptStorage: 8 } as const

/** Where nothing is said, a key may do what its kind can. */
function usesOf(one: Key | Subkey, { keyFlags }: SignaturePacket) {
  const { algorithm } = one.getAlgorithmInfo()
  const canEncrypt = ['rsaEncryptSign', 'rsaEncrypt', 'elgamal', 'ecdh', 'x25519', 'x448'].includes(algorithm)
  const may = (flag: number) => !keyFlags || ((keyFlags[0] ?? 0) & flag) !== 0
  return {
    canSign: isSigningAlgorithm(algorithm) && may(KeyFlag.sign),
    canCertify: isSigningAlgorithm(algorithm) && may(KeyFlag.certify),
    canEncryptComms: canEncrypt && may(KeyFlag.encryptComms),
    canEncryptStorage: canEncrypt && may(KeyFlag.encryptStorage),
  }
}

function factsOf(one: Key | Subkey): Pick<CertifiedKey, 'keyId' | 'fingerprint' | 'packet' | 'madeAt'> {
  const packets = new PacketList()
  packets.push(one.keyPacket)
  return {
    keyId: one.getKeyID().toHex().toUpperCase(),
    fingerprint: one.getFingerprint().toUpperCase(),
    packet: packets.write(),
    madeAt: one.getCreationTime(),
  }
}
