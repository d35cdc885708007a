import { BAND_LEAD_BYTES, MAX_PACKET_BYTES, malformed, PACK_BAND } from '../packet.ts'

/**
 * Joins the packets of a pack that are neighbours, as far as a packet may be long: upload-pack puts 8 KiB into each, and a client reads
 * every one by itself. All others stay as they are. Only for version 2 of the protocol, where everything is a packet.
 */
export function inWidePackets(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  let rest: Buffer = Buffer.alloc(0)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) {
            if (rest.length > 0) controller.enqueue(rest)
            return controller.close()
          }
          const { joined, unread } = joinPackets(
            rest.length === 0
              ? Buffer.from(value.buffer, value.byteOffset, value.length)
              : Buffer.concat([rest, value]),
          )
          rest = unread
          if (joined.length > 0) return controller.enqueue(joined)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** @returns the whole packets in `bytes`, joined, and what is left of one that has only begun */
function joinPackets(bytes: Buffer): { joined: Buffer; unread: Buffer } {
  const joined = Buffer.allocUnsafe(bytes.length)
  let [size, at] = [0, 0]
  /** Where a packet begins that may still grow. */
  let open: number | undefined
  for (let length = packetLength(bytes, at); at + length <= bytes.length; length = packetLength(bytes, at)) {
    const isPack = length > BAND_LEAD_BYTES && bytes[at + BAND_LEAD_BYTES - 1] === PACK_BAND
    if (isPack && open !== undefined && size - open + length - BAND_LEAD_BYTES <= MAX_PACKET_BYTES) {
      size += bytes.copy(joined, size, at + BAND_LEAD_BYTES, at + length)
      joined.write((size - open).toString(16).padStart(4, '0'), open, 'latin1')
    } else {
      open = isPack ? size : undefined
      size += bytes.copy(joined, size, at, at + length)
    }
    at += length
  }
  return { joined: joined.subarray(0, size), unread: bytes.subarray(at) }
}

/** With its digits; the marks that end or part a message are digits only. Infinity where these have not come yet. */
function packetLength(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length) return Number.POSITIVE_INFINITY
  const length = Number(`0x${bytes.toString('latin1', at, at + 4)}`)
  if (!(length <= MAX_PACKET_BYTES)) throw malformed('git has sent something else than packets')
  return Math.max(length, 4)
}
