import type { ServerResponse } from 'node:http'
import { PACE_BYTES, Pace } from '../kernel/pace.ts'

export interface ReplyOptions {
  isHead: boolean
  /** Longest wait for each `PACE_BYTES` to be taken. */
  seconds: number
}

/** Writes a response to the connection, as fast as the client takes it. Cuts off a client that takes it too slowly. */
export async function sendResponse(reply: ServerResponse, response: Response, options: ReplyOptions): Promise<void> {
  const { status, headers, body } = response
  reply.statusCode = status
  reply.setHeaders(headers)
  const pace = new Pace(options.seconds)
  if (body && !options.isHead && status !== 204 && status !== 304) await pump(body, reply, pace)
  else {
    reply.end()
    await body?.cancel()
  }
  if (!reply.writableFinished && !(await pace.keeps(eventOf(reply, 'finish')))) cut(reply)
}

async function pump(body: ReadableStream<Uint8Array>, reply: ServerResponse, pace: Pace): Promise<void> {
  const reader = body.getReader()
  // The source learns at once that nobody reads any more, also while it has nothing to say.
  const stop = () => void reader.cancel().catch(() => undefined)
  reply.once('close', stop)
  const first = await reader.read()
  let next = reader.read()
  // A text ends with its first bytes, which are then sent with their length.
  if (first.done || (await isDone(next))) reply.end(first.value)
  else {
    await write(first.value, reply, pace)
    for (let chunk = await next; !chunk.done && !reply.destroyed; chunk = await next) {
      await write(chunk.value, reply, pace)
      next = reader.read()
    }
    if (reply.destroyed) return stop()
    reply.end()
  }
  reply.off('close', stop)
}

/** Whether a stream reports at once that it has ended. */
async function isDone(next: Promise<{ done: boolean }>): Promise<boolean> {
  const { promise: later, resolve } = Promise.withResolvers<boolean>()
  const timer = setImmediate(() => resolve(false))
  const done = await Promise.race([next.then(({ done }) => done), later])
  clearImmediate(timer)
  return done
}

async function write(chunk: Uint8Array, reply: ServerResponse, pace: Pace): Promise<void> {
  for (let at = 0; at < chunk.length && !reply.destroyed; at += PACE_BYTES) {
    const piece = chunk.subarray(at, at + PACE_BYTES)
    if (!reply.write(piece) && !(await pace.keeps(eventOf(reply, 'drain')))) cut(reply)
    pace.count(piece.length)
  }
}

/** Waits for an event of a reply, or for its end. */
function eventOf(reply: ServerResponse, name: 'drain' | 'finish'): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      reply.off(name, done)
      reply.off('close', done)
      resolve()
    }
    reply.on(name, done)
    reply.on('close', done)
    if (reply.destroyed || reply.closed) done()
  })
}

/** Ends the connection at once. `reply.destroy()` would send a head of 200 where none was sent yet. */
export const cut = (reply: ServerResponse): void => void reply.socket?.destroy()
