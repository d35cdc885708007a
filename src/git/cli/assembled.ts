import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { garbageMeter } from '../../kernel/garbage.ts'
import type { Write } from '../model.ts'
import { packHeader } from '../pack.ts'
import { BAND_LEAD_BYTES, encodePacket, FLUSH, MAX_PACKET_BYTES, PACK_BAND } from '../packet.ts'
import { type Assembly, ID_BYTES, type Piece } from './assembly.ts'

const PAYLOAD_BYTES = MAX_PACKET_BYTES - BAND_LEAD_BYTES
/** Read at once for one client. */
const PACKETS = 4

/** A part of a pack, asked for from its first byte to its last. */
interface Source {
  bytes: number
  read(views: Buffer[], at: number): Promise<void>
}

/** Its files are open, so that whoever removes them now does not disturb. */
export interface OpenAssembly {
  /** The answer to a fetch by version 2 of the protocol, to be read once. Closes the files at its end. */
  stream(): ReadableStream<Uint8Array>
  /** The same in place of it. */
  send(write: Write): Promise<void>
  close(): Promise<void>
  /** When the files are closed. */
  closed: Promise<void>
}

/** @throws what a file system throws: ENOENT where packs have been joined */
export async function openAssembly(assembly: Assembly): Promise<OpenAssembly> {
  const opened = await Promise.allSettled(assembly.pieces.map(({ path }) => open(path)))
  const files = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  let closing: Promise<unknown> | undefined
  const close = async () => {
    closing ??= Promise.all(files.map((file) => file.close())).finally(resolve)
    await closing
  }
  const failed = opened.find((one) => one.status === 'rejected')
  if (failed) {
    await close()
    throw failed.reason
  }
  const next = inPackets(sourcesOf(assembly, files))
  return {
    stream: () => asStream(next, close),
    send: (write) => writeOut(next, write).finally(close),
    close,
    closed,
  }
}

function sourcesOf(assembly: Assembly, files: readonly FileHandle[]): Source[] {
  const { format, objects, pieces, checksum } = assembly
  const hash = checksum ? undefined : createHash(format)
  const header = packHeader(objects)
  const end = () => {
    assembly.checksum ??= hash?.digest()
    return assembly.checksum ?? Buffer.alloc(0)
  }
  return [
    fromMemory(header.length, () => header, hash),
    ...pieces.flatMap((piece, place) => {
      const file = files[place]
      return file ? [fromFile(piece, file, hash)] : []
    }),
    fromMemory(ID_BYTES[format], end, undefined),
  ]
}

function fromMemory(bytes: number, content: () => Buffer, hash: Hash | undefined): Source {
  return {
    bytes,
    async read(views, at) {
      let from = at
      for (const view of views) {
        content().copy(view, 0, from, from + view.length)
        hash?.update(view)
        from += view.length
      }
    },
  }
}

function fromFile({ from, to }: Piece, file: FileHandle, hash: Hash | undefined): Source {
  return {
    bytes: to - from,
    async read(views, at) {
      const wanted = views.reduce((sum, { length }) => sum + length, 0)
      const { bytesRead } = await file.readv(views, from + at)
      if (bytesRead < wanted) throw new Error('a pack has become shorter while it was sent')
      for (const view of views) hash?.update(view)
    },
  }
}

/** Writes the next part of an answer into memory of `PART_BYTES`. Returns what it has filled; undefined at the end. */
type NextPart = (memory: Buffer) => Promise<Buffer | undefined>

const SECTION = encodePacket('packfile\n')
const PART_BYTES = PACKETS * MAX_PACKET_BYTES + FLUSH.length

/** gitprotocol-v2(5), the section `packfile` of the answer to a fetch, which is its only one to a client that has nothing. */
function inPackets(sources: readonly Source[]): NextPart {
  const total = sources.reduce((sum, { bytes }) => sum + bytes, 0)
  let at: number | undefined
  return async (memory) => {
    if (at === total) return undefined
    if (at === undefined) {
      at = 0
      // Alone, before a file is read: Bun sends the head of an answer with what is written at once, and else in ten pieces.
      return memory.subarray(0, SECTION.copy(memory))
    }
    const length = Math.min(total - at, PACKETS * PAYLOAD_BYTES)
    const end = length + Math.ceil(length / PAYLOAD_BYTES) * BAND_LEAD_BYTES
    await fill(sources, layPackets(memory.subarray(0, end)), at)
    at += length
    return memory.subarray(0, at === total ? end + FLUSH.copy(memory, end) : end)
  }
}

function asStream(next: NextPart, close: () => Promise<void>): ReadableStream<Uint8Array> {
  const passed = garbageMeter()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const part = await next(Buffer.allocUnsafe(PART_BYTES))
          if (part) {
            passed(part.length)
            return controller.enqueue(part)
          }
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        await close()
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}

/** In the same memory all the time. */
async function writeOut(next: NextPart, write: Write): Promise<void> {
  const memory = Buffer.allocUnsafe(PART_BYTES)
  for (let part = await next(memory); part; part = await next(memory)) await write(part)
}

/** Writes what packets begin with, each as long as may be; returns the places of their payloads. */
function layPackets(area: Buffer): Buffer[] {
  const views: Buffer[] = []
  for (let at = 0; at < area.length; at += MAX_PACKET_BYTES) {
    const packet = area.subarray(at, at + MAX_PACKET_BYTES)
    packet.write(packet.length.toString(16).padStart(4, '0'), 'latin1')
    packet.writeUInt8(PACK_BAND, BAND_LEAD_BYTES - 1)
    views.push(packet.subarray(BAND_LEAD_BYTES))
  }
  return views
}

async function fill(sources: readonly Source[], views: Buffer[], at: number): Promise<void> {
  let rest = views
  let begin = 0
  let from = at
  for (const source of sources) {
    const end = begin + source.bytes
    if (rest.length > 0 && from < end) {
      const { taken, left } = split(rest, end - from)
      await source.read(taken, from - begin)
      rest = left
      from = end
    }
    begin = end
  }
}

/** The first so many bytes, and what follows. */
function split(views: readonly Buffer[], bytes: number): { taken: Buffer[]; left: Buffer[] } {
  const taken: Buffer[] = []
  const left: Buffer[] = []
  let room = bytes
  for (const view of views) {
    if (room > 0) taken.push(view.subarray(0, room))
    if (room < view.length) left.push(view.subarray(room))
    room = Math.max(0, room - view.length)
  }
  return { taken, left }
}
