import type { IncomingMessage } from 'node:http'
import { badRequest, Refusal } from '../kernel/errors.ts'
import { Pace } from '../kernel/pace.ts'

export interface BodySource {
  message: IncomingMessage
  /** Longest wait for each `PACE_BYTES`. */
  seconds: number
  /** Called before the first byte is read: a client that waits for `100 Continue` is asked here (RFC 9110, 10.1.1). */
  askForBody: () => void
}

/** RFC 9112, 6.3: a request has a body when it says so. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * The body of a request, read from the connection only as it is asked for. Fails with a `Refusal`: 408 when the client is too
 * slow, 400 when it goes away.
 */
export function bodyStream({ message, seconds, askForBody }: BodySource): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks: AsyncIterator<Uint8Array<ArrayBuffer>> = message.iterator({ destroyOnReturn: false })
  const pace = new Pace(seconds)
  let isAsked = false
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        if (!isAsked) askForBody()
        isAsked = true
        const next = chunks.next()
        const isInTime = await pace.keeps(next).catch(() => {
          throw badRequest('the body was broken off')
        })
        if (!isInTime) throw new Refusal(408, 'the body came too slowly')
        const { done, value } = await next
        if (done) return controller.close()
        pace.count(value.length)
        controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}
