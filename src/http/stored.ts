import { hasCurrent, weakTag } from './answers.ts'

export interface StoredOptions {
  type: string
  cacheControl: string
  headers?: Readonly<Record<string, string>>
}

/** Answers a request with bytes that do not change while the process lives. */
export type Stored = (request: Request) => Response

/**
 * Holds bytes ready to be served: compressed once, with an ETag, answering `If-None-Match` with 304. The tag is weak
 * because the compressed and the plain form share it (RFC 9110, 8.8.1).
 */
export async function storeBody(bytes: Uint8Array<ArrayBuffer>, options: StoredOptions): Promise<Stored> {
  const etag = weakTag(bytes)
  const compressed = await gzip(bytes)
  const common = { ...options.headers, etag, vary: 'accept-encoding', 'cache-control': options.cacheControl }
  return (request) => {
    if (hasCurrent(request, etag)) return new Response(null, { status: 304, headers: common })
    const head = { ...common, 'content-type': options.type, 'x-content-type-options': 'nosniff' }
    if (!acceptsGzip(request.headers.get('accept-encoding'))) return new Response(bytes, { headers: head })
    return new Response(compressed, { headers: { ...head, 'content-encoding': 'gzip' } })
  }
}

/** Through a stream, so that the work is done off the event loop. */
async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

/** `gzip;q=0` is a refusal. */
const acceptsGzip = (header: string | null): boolean =>
  (header ?? '').split(',').some((coding) => /^\s*(x-)?gzip\s*(;\s*q=(?!0(\.0*)?\s*$)|$)/i.test(coding))
