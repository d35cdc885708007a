import { createHash } from 'node:crypto'
import { canSignBy, readVerifier, type Verifier } from './algorithms.ts'
import { encodePacket, type Packet, uint32 } from './packets.ts'
import { PacketFault, PacketReader } from './reader.ts'

/** The packet of a key or a subkey (RFC 9580, 5.5.2). */
export interface PublicKey {
  version: number
  /** Seconds since 1970, as all times of OpenPGP. */
  createdAt: number
  algorithm: number
  /** Hexadecimal, in capitals. */
  fingerprint: string
  /** 16 digits in capitals. */
  keyId: string
  /** What stands for the key in what is signed. */
  hashed: Uint8Array
  /** The whole packet. */
  packet: Uint8Array
  /** @throws PacketFault for one that cannot verify signatures here */
  verifier(): Verifier
}

/** @throws PacketFault for versions other than 4 and 6, which no program makes any more or yet */
export function readPublicKey({ tag, body }: Packet): PublicKey {
  const reader = new PacketReader(body)
  const version = reader.byte()
  if (version !== 4 && version !== 6) throw new PacketFault(`is a key of version ${version}, which is not taken`)
  const createdAt = reader.long()
  const algorithm = reader.byte()
  const material = version === 6 ? reader.take(reader.long()) : reader.rest()
  if (version === 4 && body.length > 0xffff) throw new PacketFault('is too long')
  const hashed = hashedForm(version, body)
  const fingerprint = createHash(version === 6 ? 'sha256' : 'sha1')
    .update(hashed)
    .digest('hex')
    .toUpperCase()
  const keyId = version === 6 ? fingerprint.slice(0, 16) : fingerprint.slice(-16)
  const read = () => {
    if (!canSignBy(algorithm)) throw new PacketFault('cannot sign')
    return readVerifier(algorithm, material)
  }
  let known: Verifier | undefined
  const verifier = () => {
    known ??= read()
    return known
  }
  return { version, createdAt, algorithm, fingerprint, keyId, hashed, packet: encodePacket({ tag, body }), verifier }
}

function hashedForm(version: number, body: Uint8Array): Uint8Array {
  if (version === 6) return Buffer.concat([Buffer.of(0x9b), uint32(body.length), body])
  return Buffer.concat([Buffer.of(0x99, body.length >> 8, body.length & 255), body])
}
