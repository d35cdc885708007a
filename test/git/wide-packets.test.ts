import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { inWidePackets } from '../../src/git/cli/wide-packets.ts'
import { DELIMITER, encodePacket, FLUSH, MAX_PACKET_BYTES, PacketReader } from '../../src/git/packet.ts'

const pack = (length: number) => encodePacket(Buffer.concat([Buffer.of(1), randomBytes(length)]))
const progress = encodePacket('\x02Counting objects\n')

/** An answer as upload-pack gives it, with what may stand between the packets of the pack. */
const answer = Buffer.concat([
  encodePacket('acknowledgments\n'),
  encodePacket('NAK\n'),
  DELIMITER,
  encodePacket('packfile\n'),
  progress,
  ...Array.from({ length: 20 }, () => pack(8188)),
  progress,
  pack(MAX_PACKET_BYTES - 5),
  pack(1),
  encodePacket(Buffer.of(1)),
  pack(65_000),
  pack(600),
  encodePacket('\x03something broke\n'),
  pack(3),
  FLUSH,
])

interface Told {
  /** Bytes of the pack between other packets are one. */
  parts: string[]
  packets: number
}

function tell(bytes: Uint8Array): Told {
  const reader = new PacketReader()
  reader.push(bytes)
  const told: Told = { parts: [], packets: 0 }
  let data = ''
  for (let packet = reader.next(); packet; packet = reader.next()) {
    told.packets += 1
    if (packet.kind === 'data' && packet.payload[0] === 1) {
      data += packet.payload.toString('latin1', 1)
      continue
    }
    told.parts.push(data, packet.kind === 'data' ? packet.payload.toString('latin1') : packet.kind)
    data = ''
  }
  expect(reader.unread).toHaveLength(0)
  return told
}

/** In pieces of at most so many bytes, each of another length. */
function* cut(bytes: Buffer, most: number): Generator<Uint8Array> {
  for (let at = 0, turn = 1; at < bytes.length; turn += 1) {
    const length = 1 + ((turn * 7919) % most)
    yield bytes.subarray(at, at + length)
    at += length
  }
}

const widen = async (pieces: Iterable<Uint8Array>) => {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  return Buffer.from(await new Response(inWidePackets(stream)).arrayBuffer())
}

test.each([3, 5, 4096, 70_000, 1_000_000])('pieces of up to %d bytes say the same in fewer packets', async (most) => {
  const wide = await widen(cut(answer, most))
  const [before, after] = [tell(answer), tell(wide)]
  expect(after.parts).toEqual(before.parts)
  expect(after.packets).toBeLessThanOrEqual(before.packets)
})

test('a pack that comes at once is in packets as long as may be', async () => {
  expect(tell(answer).packets).toBe(34)
  // 160 KiB are three packets. No other pair fits into one, or has nothing between it.
  expect(tell(await widen([answer])).packets).toBe(17)
})

test('what is broken off stays broken off, and what is no packet is an error', async () => {
  const begun = answer.subarray(0, -100)
  expect((await widen(cut(begun, 5000))).subarray(-3)).toEqual(begun.subarray(-3))
  await expect(widen([Buffer.from('fatal: no')])).rejects.toThrow('something else than packets')
})
