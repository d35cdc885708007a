import { t } from 'elysia'
import { Refusal } from '../kernel/errors.ts'

/** What a route answers that sends a file instead of JSON. */
export const FileBody = t.Unsafe<Response>(t.String({ format: 'binary' }))

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters
const CONTROLS = /[\x00-\x1f\x7f]/g

/** RFC 6266. Control characters, which would split the header, become `_`. */
export function contentDisposition(kind: 'inline' | 'attachment', filename: string): string {
  const name = filename.toWellFormed().replace(CONTROLS, '_')
  if (TOKEN.test(name)) return `${kind}; filename=${name}`
  if (/^[\x20-\x7e]*$/.test(name)) return `${kind}; filename="${name.replace(/["\\]/g, '\\$&')}"`
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
  return `${kind}; filename*=utf-8''${encoded}`
}

export interface ByteRange {
  start: number
  /** Behind the last byte. */
  end: number
}

/**
 * The one range that a client asks for (RFC 9110 section 14.2). Undefined: everything is sent, as also for several ranges and for
 * a range of another state of the file.
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

/** A part of a stream. What lies before it is read and dropped; the source is ended behind it. */
export function sliceStream(stream: ReadableStream<Uint8Array>, { start, end }: ByteRange): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  let at = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          const [first, behind] = [Math.max(start - at, 0), Math.min(end - at, value.length)]
          at += value.length
          if (first < behind) controller.enqueue(value.subarray(first, behind))
          if (at >= end) {
            controller.close()
            await reader.cancel()
          }
          if (first < behind || at >= end) return
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
