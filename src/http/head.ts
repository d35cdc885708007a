const lengths = new WeakMap<Request, number | undefined>()

/**
 * For a route that answers HEAD without making the body: how long the body would be, undefined where that is not known. Elysia
 * writes the length of what it was given, which is nothing.
 */
export function answerHead(request: Request, length: number | undefined, headers: HeadersInit): Response {
  lengths.set(request, length)
  return new Response(null, { headers })
}

/** Puts right what Elysia has written about the length. */
export function restoreLength(request: Request, { status, headers }: Response): void {
  if (request.method !== 'HEAD') return
  // RFC 9110, 8.6: a length would be that of the answer which the client has.
  if (status === 304) headers.delete('content-length')
  if (!lengths.has(request)) return
  const length = lengths.get(request)
  if (length !== undefined) headers.set('content-length', String(length))
  else {
    headers.delete('content-length')
    // As the body itself would be sent; without it Bun writes a length of 0.
    headers.set('transfer-encoding', 'chunked')
  }
}
