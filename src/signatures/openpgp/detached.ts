import {
  createMessage,
  enums,
  type Key,
  readKey,
  readSignature,
  type Signature,
  SignaturePacket,
  verify,
} from 'openpgp'
import { isForgeable, requireStrong, settings, TOLERANCE_MS } from './library.ts'
import type { SignedContent, SignedVerdict } from './model.ts'

/** The identifier of the key that an armored signature says to be by, in capitals; undefined for what is no single signature. */
export async function readIssuer(armored: string): Promise<string | undefined> {
  const one = await readOne(armored)
  return one?.packet.issuerKeyID.toHex().toUpperCase()
}

/** Several packets are several signers, of whom programs name different ones. What the library cannot read has another class. */
async function readOne(
  armoredSignature: string,
): Promise<{ signature: Signature; packet: SignaturePacket } | undefined> {
  // Throws for what is no signature.
  const signature = await readSignature({ armoredSignature, config: settings }).catch(() => undefined)
  const [packet, second] = signature?.packets ?? []
  return signature && packet instanceof SignaturePacket && !second ? { signature, packet } : undefined
}

/**
 * Whether a key, or a subkey of it that signs, has signed one of the contents: while it lived, and with a signature that is alive now.
 * Never with a hash for which forgeries can be computed: the library refuses SHA-1.
 */
export async function judgeSigned({ certificate, armored, contents, now }: SignedContent): Promise<SignedVerdict> {
  const [one, key] = [await readOne(armored), await readStored(certificate)]
  if (!one || !key) return { isSigned: false, isFinal: true }
  const { signature, packet } = one
  const isText = packet.signatureType === enums.signature.text
  // Such a signature says nothing of line endings: with CR in it, another content would be as right.
  const exact = contents.filter((content) => !isText || !content.includes(0x0d))
  const verdicts = await Promise.all(exact.map((content) => isOver({ key, signature, now }, content)))
  const latest = now.getTime() + TOLERANCE_MS
  const isFinal = packet.getExpirationTime() === Infinity && (packet.created?.getTime() ?? 0) <= latest
  return { isSigned: verdicts.includes(true), isFinal }
}

/** A key that was taken before. Undefined for one that would not be taken today. */
async function readStored(binaryKey: Uint8Array): Promise<Key | undefined> {
  try {
    const key = await readKey({ binaryKey, config: settings })
    requireStrong(key)
    key.subkeys = key.subkeys.filter(({ keyPacket }) => !isForgeable(keyPacket))
    return key
  } catch {
    // Judged more strictly than when it was taken.
    return undefined
  }
}

async function isOver(
  { key, signature, now }: { key: Key; signature: Signature; now: Date },
  content: Uint8Array,
): Promise<boolean> {
  const message = await createMessage({ binary: content })
  const date = new Date(now.getTime() + TOLERANCE_MS)
  const options = { message, signature, verificationKeys: key, date, config: settings, format: 'binary' as const }
  try {
    const { signatures } = await verify(options)
    return (await signatures[0]?.verified) === true
  } catch {
    // The library throws for a signature that does not hold, and says no more than that.
    return false
  }
}
