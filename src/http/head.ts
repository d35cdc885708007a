import { exchangeOf } from './exchange.ts'

/**
 * For a route that answers HEAD without making the body: how long the body would be, undefined where that is not known. Elysia
 * writes the length of what it was given, which is nothing; `restoreLength` puts that right.
 */
export function answerHead(request: Request, bodyLength: number | undefined, headers: HeadersInit): Response {
  exchangeOf(request).head = { bodyLength }
  return new Response(null, { headers })
}

/** Puts right what Elysia has written about the length of an answer to HEAD (RFC 9110, 8.6). */
export function restoreLength(request: Request, { status, headers }: Response): void {
  if (request.method !== 'HEAD') return
  const { head } = exchangeOf(request)
  // A 304 would tell the length of the answer that the client has.
  if (status === 304 || head) headers.delete('content-length')
  if (head?.bodyLength !== undefined) headers.set('content-length', String(head.bodyLength))
}
