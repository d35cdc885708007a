import { PacketFault, PacketReader } from './reader.ts'

/** The kinds of packets that keys and signatures consist of (RFC 9580, 5). */
export const Tag = {
  signature: 2,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  marker: 10,
  trust: 12,
  userId: 13,
  publicSubkey: 14,
  userAttribute: 17,
  padding: 21,
} as const

export interface Packet {
  tag: number
  body: Uint8Array
}

/**
 * Splits bytes into packets.
 * @throws PacketFault for what is broken, for more than `most` packets, and for lengths in parts, which only streams need
 */
export function readPackets(bytes: Uint8Array, most: number): Packet[] {
  const reader = new PacketReader(bytes)
  const packets: Packet[] = []
  while (!reader.isAtEnd) {
    if (packets.length === most) throw new PacketFault(`has more than ${most} packets`)
    const head = reader.byte()
    if ((head & 0x80) === 0) throw new PacketFault('is no OpenPGP data')
    const isOld = (head & 0x40) === 0
    const tag = isOld ? (head >> 2) & 15 : head & 63
    const length = isOld ? oldLength(reader, head & 3) : newLength(reader)
    packets.push({ tag, body: reader.take(length) })
  }
  return packets
}

function oldLength(reader: PacketReader, kind: number): number {
  if (kind === 0) return reader.byte()
  if (kind === 1) return reader.short()
  if (kind === 2) return reader.long()
  throw new PacketFault('has a packet without a length')
}

/** RFC 9580, 4.2.1; also of subpackets, where no length is in parts. */
export function newLength(reader: PacketReader, isSubpacket = false): number {
  const first = reader.byte()
  if (first < 192) return first
  if (first < (isSubpacket ? 255 : 224)) return ((first - 192) << 8) + reader.byte() + 192
  if (first === 255) return reader.long()
  throw new PacketFault('has a packet in parts')
}

/** A packet with the header that all current programs write. */
export function encodePacket({ tag, body }: Packet): Uint8Array {
  return Buffer.concat([Buffer.of(0xc0 | tag), encodeLength(body.length), body])
}

function encodeLength(length: number): Uint8Array {
  if (length < 192) return Buffer.of(length)
  if (length < 8384) return Buffer.of(((length - 192) >> 8) + 192, (length - 192) & 255)
  return Buffer.concat([Buffer.of(255), uint32(length)])
}

/** Four bytes. */
export function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
