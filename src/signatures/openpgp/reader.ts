/** What is no OpenPGP data, or none that is understood: said of it in a sentence that goes on after "it". */
export class PacketFault extends Error {}

/** Reads the fields of a packet one after the other and never past its end (RFC 9580, 3). */
export class PacketReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get position(): number {
    return this.#at
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** @throws PacketFault past the end, as all of these */
  byte(): number {
    return this.#view.getUint8(this.#skip(1))
  }

  short(): number {
    return this.#view.getUint16(this.#skip(2))
  }

  /** Four bytes. */
  long(): number {
    return this.#view.getUint32(this.#skip(4))
  }

  take(length: number): Uint8Array {
    const start = this.#skip(length)
    return this.#bytes.subarray(start, start + length)
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at)
  }

  /** What was read since a position. */
  since(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#at)
  }

  /** A whole number of any size, without zeros before it: its length in bits stands first. */
  number(): Uint8Array {
    const bytes = this.take(Math.ceil(this.short() / 8))
    const first = bytes.findIndex((byte) => byte !== 0)
    return first < 0 ? bytes.subarray(bytes.length) : bytes.subarray(first)
  }

  #skip(length: number): number {
    const start = this.#at
    if (length > this.#bytes.length - start) throw new PacketFault('is cut off')
    this.#at = start + length
    return start
  }
}

/** With zeros before it up to the length; undefined when it is longer. */
export function padded(bytes: Uint8Array, length: number): Uint8Array | undefined {
  if (bytes.length > length) return undefined
  const result = new Uint8Array(length)
  result.set(bytes, length - bytes.length)
  return result
}
