/**
 * An answer that comes bit by bit: a stream, or a file. The front reads nothing more of its connection and ends it afterwards
 * (`turns.ts`); a client that is told so does not send its next request into it (RFC 9112, 9.6).
 */
export const streamed = (
  body: ReadableStream<Uint8Array> | Blob,
  { status = 200, headers }: { status?: number; headers: Record<string, string> },
): Response => new Response(body, { status, headers: { ...headers, connection: 'close' } })
