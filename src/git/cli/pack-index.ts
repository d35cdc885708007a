import { readFile } from 'node:fs/promises'
import { INDEX_SIGNATURE } from '../pack.ts'

const FANOUT_BYTES = 256 * 4
/** An offset with this bit says which of the long ones it stands for. */
const IS_LONG = 0x80000000

export interface PackEntry {
  id: Buffer
  offset: number
}

/** Which objects a pack holds, and where (gitformat-pack(5), index version 2). */
export class PackIndex {
  readonly count: number
  /** Of the pack that this tells of: its last bytes. */
  readonly packChecksum: Buffer
  readonly #bytes: Buffer
  readonly #idBytes: number
  readonly #ids: number

  private constructor(bytes: Buffer, idBytes: number) {
    this.#bytes = bytes
    this.#idBytes = idBytes
    this.#ids = INDEX_SIGNATURE.length + FANOUT_BYTES
    this.count = bytes.readUInt32BE(this.#ids - 4)
    this.packChecksum = Buffer.from(bytes.subarray(-2 * idBytes, -idBytes))
  }

  /** Undefined for the version before, and for what is none. @throws what a file system throws */
  static async read(path: string, idBytes: number): Promise<PackIndex | undefined> {
    const bytes = await readFile(path)
    if (
      bytes.length < INDEX_SIGNATURE.length + FANOUT_BYTES ||
      !bytes.subarray(0, INDEX_SIGNATURE.length).equals(INDEX_SIGNATURE)
    )
      return undefined
    const index = new PackIndex(bytes, idBytes)
    // Ids, checksums and offsets; long offsets; the two checksums at the end.
    return bytes.length < index.#ids + index.count * (idBytes + 8) + 2 * idBytes ? undefined : index
  }

  has(id: Buffer): boolean {
    const first = id[0] ?? 0
    let low = first === 0 ? 0 : this.#bytes.readUInt32BE(INDEX_SIGNATURE.length + (first - 1) * 4)
    let high = this.#bytes.readUInt32BE(INDEX_SIGNATURE.length + first * 4)
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = this.#ids + middle * this.#idBytes
      const order = this.#bytes.compare(id, 0, id.length, at, at + this.#idBytes)
      if (order === 0) return true
      if (order < 0) low = middle + 1
      else high = middle
    }
    return false
  }

  /** By their ids. */
  *entries(): Iterable<PackEntry> {
    for (let place = 0; place < this.count; place += 1) {
      const at = this.#ids + place * this.#idBytes
      yield { id: this.#bytes.subarray(at, at + this.#idBytes), offset: this.#offsetAt(place) }
    }
  }

  #offsetAt(place: number): number {
    const offsets = this.#ids + this.count * (this.#idBytes + 4)
    const offset = this.#bytes.readUInt32BE(offsets + place * 4)
    if (offset < IS_LONG) return offset
    return Number(this.#bytes.readBigUInt64BE(offsets + this.count * 4 + (offset - IS_LONG) * 8))
  }
}
