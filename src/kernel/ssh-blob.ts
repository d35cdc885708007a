/** A key or signature that cannot be used. The message says why, for the client. */
export class SshKeyError extends Error {}

/** Reads the length-prefixed strings of RFC 4251, section 5, one after the other. */
export class BlobReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** @throws SshKeyError past the end */
  string(): Uint8Array {
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength)
    if (this.#at + 4 > view.byteLength) throw new SshKeyError('it is cut off')
    const length = view.getUint32(this.#at)
    const start = this.#at + 4
    if (length > view.byteLength - start) throw new SshKeyError('it is cut off')
    this.#at = start + length
    return this.#bytes.subarray(start, this.#at)
  }

  /** Four bytes. @throws SshKeyError past the end */
  number(): number {
    const start = this.#at
    if (start + 4 > this.#bytes.length) throw new SshKeyError('it is cut off')
    this.#at += 4
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset).getUint32(start)
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at)
  }

  text(): string {
    return Buffer.from(this.string()).toString('latin1')
  }

  /** A positive number of any size, without the zero byte that keeps its sign. @throws SshKeyError for another form */
  positive(): Uint8Array {
    const bytes = this.string()
    const [first = 0, second = 0] = bytes
    if (bytes.length === 0 || first > 127 || (first === 0 && second < 128))
      throw new SshKeyError('it holds a wrong number')
    return first === 0 ? bytes.subarray(1) : bytes
  }

  /** @throws SshKeyError when something follows */
  end(): void {
    if (this.#at !== this.#bytes.length) throw new SshKeyError('something follows the key')
  }
}

/** A string of RFC 4251 as it is written. */
export function blobString(content: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
