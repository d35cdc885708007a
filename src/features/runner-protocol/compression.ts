import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { Code, ConnectError } from '@connectrpc/connect'
import type { Compression } from '@connectrpc/connect/protocol'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/** What runners compress their messages with, and take compressed. What would unpack to more than may be read is refused on the way. */
export const gzipCompression: Compression = {
  name: 'gzip',
  async compress(bytes) {
    return new Uint8Array(await pack(bytes))
  },
  async decompress(bytes, readMaxBytes) {
    if (bytes.length === 0) return new Uint8Array()
    try {
      return new Uint8Array(await unpack(bytes, { maxOutputLength: readMaxBytes }))
    } catch {
      throw new ConnectError(`no gzip, or more than ${readMaxBytes} bytes`, Code.InvalidArgument)
    }
  },
}
