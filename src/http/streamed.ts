import type { Write } from '../git/model.ts'

/**
 * An answer that comes bit by bit: a stream, or a file. The front reads nothing more of its connection and ends it afterwards
 * (`turns.ts`); a client that is told so does not send its next request into it (RFC 9112, 9.6).
 */
export const streamed = (
  body: ReadableStream<Uint8Array> | Blob,
  { status = 200, headers }: { status?: number; headers: Record<string, string> },
): Response => new Response(body, { status, headers: { ...headers, connection: 'close' } })

/**
 * The same, written out as fast as the client takes it, from memory that `send` may use again and again. Fails with `send`, so that the
 * client sees that something is missing.
 * @param signal of the request: once it has fired, writing fails
 */
export function written(
  send: (write: Write) => Promise<void>,
  { headers, signal }: { headers: Record<string, string>; signal: AbortSignal },
): Response {
  const pull = async (controller: ReadableStreamDirectController) => {
    const write: Write = async (bytes) => {
      signal.throwIfAborted()
      await controller.write(bytes)
      // From here on nothing of it is needed.
      await controller.flush(true)
    }
    await send(write).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }
  return streamed(openDirect(pull), { headers })
}

/** A stream of Bun's that is written to. The types of browsers, which come with a library, do not know of it. */
function openDirect(pull: (controller: ReadableStreamDirectController) => Promise<void>): ReadableStream<Uint8Array> {
  const stream: unknown = Reflect.construct(ReadableStream, [{ type: 'direct', pull }])
  if (stream instanceof ReadableStream) return stream
  throw new Error('a ReadableStream is none')
}
