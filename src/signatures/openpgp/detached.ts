import { readArmor } from './armor.ts'
import { readPackets, Tag } from './packets.ts'
import { type PublicKey, readPublicKey } from './public-key.ts'
import { PacketFault } from './reader.ts'
import { isMadeBy, readSignature, type Signature, SignatureType } from './signature.ts'

/** A signature has one packet of some hundred bytes; several of them are several signers. */
const MAX_PACKETS = 8

/** For these forgeries can be computed: the text and its signature may come from two different hands. */
const WEAK_HASHES: readonly (string | undefined)[] = ['sha1']

/** The first signature in an armored text. @throws PacketFault */
export function readDetachedSignature(armored: string): Signature {
  const packet = readPackets(readArmor(armored, 'SIGNATURE'), MAX_PACKETS).find(({ tag }) => tag === Tag.signature)
  if (!packet) throw new PacketFault('holds no signature')
  return readSignature(packet.body)
}

/** A key that was taken before, from its packet. @throws PacketFault */
export function readKeptKey(packet: Uint8Array): PublicKey {
  const [first] = readPackets(packet, 1)
  if (!first) throw new PacketFault('is empty')
  return readPublicKey(first)
}

/** Whether the key made the signature over this content while the key was alive, and the signature is alive now. */
export function isContentSignedBy(
  { key, expiresAt }: { key: PublicKey; expiresAt: Date | null },
  signature: Signature,
  { content, now }: { content: Uint8Array; now: Date },
): boolean {
  const { type, hash, createdAt, expiresAfter = 0 } = signature
  if (WEAK_HASHES.includes(hash)) return false
  const isText = type === SignatureType.text
  if (!isText && type !== SignatureType.binary) return false
  if (createdAt < key.createdAt || (expiresAt && createdAt * 1000 >= expiresAt.getTime())) return false
  if (expiresAfter !== 0 && (createdAt + expiresAfter) * 1000 <= now.getTime()) return false
  return isMadeBy(key, signature, [isText ? withNetworkLineEndings(content) : content])
}

/** RFC 9580, 5.2.1.2. */
function withNetworkLineEndings(content: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(content).toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
}
