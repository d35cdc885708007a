/** An answer that comes bit by bit: a stream, or a file. */
export const streamed = (
  body: ReadableStream<Uint8Array> | Blob,
  { status = 200, headers }: { status?: number; headers: Record<string, string> },
): Response => new Response(body, { status, headers })
