import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { ObjectFormat, ObjectType } from './model.ts'
import { hashObject } from './objects.ts'

const compress = promisify(deflate)
/** `PACK`, the version, and how many objects (gitformat-pack(5)). */
export const PACK_HEADER_BYTES = 12
export const PACK_SIGNATURE = Buffer.from('PACK\0\0\0\x02', 'latin1')
/** Of an index of version 2. */
export const INDEX_SIGNATURE = Buffer.from('\xfftOc\0\0\0\x02', 'latin1')

export function packHeader(objects: number): Buffer {
  const header = Buffer.alloc(PACK_HEADER_BYTES)
  PACK_SIGNATURE.copy(header)
  header.writeUInt32BE(objects, PACK_SIGNATURE.length)
  return header
}

const TYPE_NUMBER = { commit: 1, tree: 2, blob: 3, tag: 4 } as const

export interface PackedObjects {
  /** The checksum git names the file by: `pack-<name>.pack`. */
  name: string
  pack: Uint8Array
  index: Uint8Array
}

/**
 * Objects waiting to be written. One pack costs two flushes to the disk however many objects it holds; loose objects cost one
 * each, and a spawned `fast-import` 20 ms (platform notes, section 7).
 */
export class PackBuilder {
  readonly format: ObjectFormat
  readonly #objects = new Map<string, { type: ObjectType; content: Uint8Array }>()

  constructor(format: ObjectFormat) {
    this.format = format
  }

  add(type: ObjectType, content: Uint8Array): string {
    const sha = hashObject(this.format, type, content)
    this.#objects.set(sha, { type, content })
    return sha
  }

  get(sha: string): Uint8Array | undefined {
    return this.#objects.get(sha)?.content
  }

  /** Pack version 2 without deltas, and its index version 2 (gitformat-pack(5)). */
  async build(): Promise<PackedObjects> {
    const header = packHeader(this.#objects.size)
    const chunks: Uint8Array[] = [header]
    const entries: PackEntry[] = []
    let offset = header.length
    for (const [sha, { type, content }] of this.#objects) {
      const entry = Buffer.concat([entryHeader(type, content.length), await compress(content)])
      entries.push({ sha, offset, crc: Bun.hash.crc32(entry) })
      chunks.push(entry)
      offset += entry.length
    }
    if (offset >= 0x80000000) throw new Error('pack of 2 GiB and more')
    const body = Buffer.concat(chunks)
    const checksum = digest(this.format, body)
    return {
      name: checksum.toString('hex'),
      pack: Buffer.concat([body, checksum]),
      index: indexOf(this.format, entries, checksum),
    }
  }
}

interface PackEntry {
  sha: string
  offset: number
  crc: number
}

/** Type and size: four bits of the size first, then seven a byte, the high bit saying that more follow. */
function entryHeader(type: ObjectType, size: number): Buffer {
  const bytes = [(TYPE_NUMBER[type] << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(rest & 0x7f)
  }
  return Buffer.from(bytes)
}

function indexOf(format: ObjectFormat, entries: PackEntry[], checksum: Buffer): Buffer {
  const sorted = entries.toSorted((a, b) => (a.sha < b.sha ? -1 : 1))
  const fanOut = new Uint32Array(256)
  for (const { sha } of sorted)
    fanOut[Number.parseInt(sha.slice(0, 2), 16)] = 1 + (fanOut[Number.parseInt(sha.slice(0, 2), 16)] ?? 0)
  let sum = 0
  const sums = [...fanOut].map((count) => (sum += count))
  const body = Buffer.concat([
    INDEX_SIGNATURE,
    numbers(sums),
    Buffer.from(sorted.map(({ sha }) => sha).join(''), 'hex'),
    numbers(sorted.map(({ crc }) => crc)),
    numbers(sorted.map(({ offset }) => offset)),
    checksum,
  ])
  return Buffer.concat([body, digest(format, body)])
}

function numbers(values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4)
  return bytes
}

const digest = (format: ObjectFormat, bytes: Uint8Array): Buffer => new Bun.CryptoHasher(format).update(bytes).digest()
