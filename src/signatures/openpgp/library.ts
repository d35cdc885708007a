import { config, enums, type Key, type PublicKeyPacket, type PublicSubkeyPacket } from 'openpgp'
import { isSmallOrder } from '../../kernel/ed25519.ts'

/** What is no OpenPGP data, or none that is taken: said of it in a sentence that goes on after "it". */
export class OpenPgpError extends Error {}

/** Clocks differ: what a key has signed of itself may be so much younger than now. */
export const TOLERANCE_MS = 24 * 60 * 60 * 1000

/** How the library judges keys and signatures. */
export const settings = {
  ...config,
  minRSABits: 2048,
  // Keys of old have none, and may then do what their kind can.
  allowMissingKeyFlags: true,
  // gpg replaces the self-signatures of a key when its owner extends its life. What the key signed before still counts.
  allowInsecureVerificationWithReformattedKeys: true,
}

const signingAlgorithms: readonly string[] = ['rsaEncryptSign', 'rsaSign', 'ecdsa', 'eddsaLegacy', 'ed25519', 'ed448']

/** Whether a key is of a kind that signs. */
export const isSigningAlgorithm = (algorithm: string): boolean => signingAlgorithms.includes(algorithm)

/** @throws OpenPgpError for a primary key that cannot sign here, or that others could sign for */
export function requireStrong(key: Key): void {
  const { algorithm, bits = 0 } = key.getAlgorithmInfo()
  if (!isSigningAlgorithm(algorithm)) throw new OpenPgpError('cannot sign')
  if (algorithm.startsWith('rsa') && bits < settings.minRSABits)
    throw new OpenPgpError(`is an RSA key of ${bits} bits, and needs ${settings.minRSABits}`)
  if (isForgeable(key.keyPacket)) throw new OpenPgpError('is a key with which anybody could sign')
}

/** The library takes points of small order, with which nobody needs a secret. They stand at the end of the packet. */
export function isForgeable(packet: Pick<PublicKeyPacket | PublicSubkeyPacket, 'algorithm' | 'write'>): boolean {
  const isEd25519 = packet.algorithm === enums.publicKey.ed25519 || packet.algorithm === enums.publicKey.eddsaLegacy
  return isEd25519 && isSmallOrder(packet.write().slice(-32))
}
