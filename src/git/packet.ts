import { GitError } from './errors.ts'

/** pkt-line framing (gitprotocol-common(5)): four hexadecimal digits of length, these included, then the payload. */
export const FLUSH = Buffer.from('0000')
export const DELIMITER = Buffer.from('0001')
export const END = Buffer.from('0002')
export const MAX_PACKET_BYTES = 65_520
const MAX_PAYLOAD_BYTES = MAX_PACKET_BYTES - 4

/** gitprotocol-pack(5): a packet of a side band has the number of the band behind its length. */
export const BAND_LEAD_BYTES = 5

export type Packet = { kind: 'data'; payload: Buffer } | { kind: 'flush' } | { kind: 'delimiter' } | { kind: 'end' }

export function encodePacket(payload: string | Uint8Array): Buffer {
  const bytes = Buffer.from(payload)
  if (bytes.length > MAX_PAYLOAD_BYTES) throw new Error('packet too long')
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

const SPECIAL = new Map<number, Packet>([
  [0, { kind: 'flush' }],
  [1, { kind: 'delimiter' }],
  [2, { kind: 'end' }],
])

/**
 * Takes bytes in any portions and gives packets. What is not asked for stays in `unread`, so that a pack behind the packets is
 * never scanned.
 */
export class PacketReader {
  #bytes: Buffer = Buffer.alloc(0)

  push(chunk: Uint8Array): void {
    this.#bytes = this.#bytes.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#bytes, chunk])
  }

  /** Undefined: more bytes are needed. Throws `invalid` `protocol` on a length that cannot be. */
  next(): Packet | undefined {
    if (this.#bytes.length < 4) return undefined
    const digits = this.#bytes.toString('latin1', 0, 4)
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw malformed('packet length is not hexadecimal')
    const length = Number.parseInt(digits, 16)
    const special = SPECIAL.get(length)
    if (!special && (length < 4 || length > MAX_PACKET_BYTES)) throw malformed(`packet length ${length}`)
    if (this.#bytes.length < length) return undefined
    const packet: Packet = special ?? { kind: 'data', payload: this.#bytes.subarray(4, length) }
    this.#bytes = this.#bytes.subarray(special ? 4 : length)
    return packet
  }

  get unread(): Buffer {
    return this.#bytes
  }
}

export const malformed = (message: string): GitError => new GitError('invalid', 'protocol', message)
