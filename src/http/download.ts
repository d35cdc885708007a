import { create } from 'content-disposition'
import { t } from 'elysia'
import { Refusal } from '../kernel/errors.ts'
import { exchangeOf } from './exchange.ts'
import type { MediaType } from './media-type.ts'

/** What a route answers that sends a file instead of JSON. */
export const FileBody = t.Unsafe<Response>(t.String({ format: 'binary' }))

/** RFC 6266. Wire: a name that needs encoding has no second, plain form beside it. */
export const contentDisposition = (type: 'inline' | 'attachment', filename: string): string =>
  create(filename.toWellFormed(), { type, fallback: false })

export interface ByteRange {
  start: number
  /** Behind the last byte. */
  end: number
}

/**
 * The one range that a client asks for (RFC 9110 section 14.2). Undefined: everything is sent, as also for several ranges and for
 * a range of another state of the file. Not by range-parser: it refuses an end of a file that is longer than the file (RFC 9110,
 * 14.1.2 wants the whole), and units that it does not know.
 * @throws Refusal 416 for a range that lies behind the end
 */
export function readRange(request: Request, { size, etag }: { size: number; etag: string }): ByteRange | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(request.headers.get('range')?.trim() ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  const condition = request.headers.get('if-range')
  if (condition !== null && condition !== etag) return undefined
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1)
  if (start >= size || start >= end) {
    if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
    throw new Refusal(416, 'the range lies behind the end', { headers: { 'content-range': `bytes */${size}` } })
  }
  return { start, end }
}

/** An answer that comes bit by bit: a stream, or a file. */
export const streamed = (
  body: ReadableStream<Uint8Array> | Blob,
  { status = 200, headers }: { status?: number; headers: Record<string, string> },
): Response => new Response(body, { status, headers })

/**
 * For a route that answers HEAD without making the body: how long the body would be, undefined where that is not known. Elysia
 * writes the length of what it was given, which is nothing; the handler puts that right.
 */
export function answerHead(request: Request, bodyLength: number | undefined, headers: HeadersInit): Response {
  exchangeOf(request).head = { bodyLength }
  return new Response(null, { headers })
}

/** What a browser may do with a stranger's file: show it, and nothing else. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

export interface SentFile {
  name: string
  media: MediaType
  /** Of the whole file. */
  size: number
  range: ByteRange | undefined
  etag: string
}

/** The headers of a stranger's file, or of a part of it. */
export const fileHeaders = ({ name, media, size, range, etag }: SentFile): Record<string, string> => ({
  'content-type': media.type,
  'content-disposition': contentDisposition(media.isInline ? 'inline' : 'attachment', name),
  'access-control-expose-headers': 'Content-Disposition',
  'content-length': String(range ? range.end - range.start : size),
  ...(range && { 'content-range': `bytes ${range.start}-${range.end - 1}/${size}` }),
  'accept-ranges': 'bytes',
  'content-security-policy': SANDBOX,
  'x-content-type-options': 'nosniff',
  etag,
})
