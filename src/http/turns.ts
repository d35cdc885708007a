import type { ServerResponse } from 'node:http'
import type { Server } from 'bun'
import type { Line } from './lines.ts'

/** Refusal that a request gets when the next one comes on its connection before it is answered. */
type Interruption = () => Response

/**
 * A connection answers one request at a time. RFC 9112, 9.3.2 lets a client send the next one early; Bun.serve then closes the
 * connection, but on a port of node:http Bun lets a second native answer take the place of the first in its books: the two come
 * mixed, and once the client is gone the first writes to memory that is free, which ended the process. By the time the second
 * request is told of, it is too late to hold it back. So before its handler returns, the first is answered with a refusal, whole and
 * in its place, and the connection is closed. An answer that Bun cannot hand to the kernel at once, large or a stream, could not be
 * taken back: the connection that carries one reads nothing more and is closed after it. So no such answer may begin while its request is still read.
 */
export const isBusy = (line: Line): boolean => {
  while (line.pending[0]?.isDone()) line.pending.shift()
  return line.pending.length > 0
}

interface Turn {
  line: Line
  request: Request
  server: Server<undefined>
  refuse: Interruption
}

/** Takes the turn of a native request: `answered` is handed on, unless the next request comes first. */
export function takeTurn(
  { line, request, server, refuse }: Turn,
  answered: Response | Promise<Response>,
): Promise<Response> {
  const { promise, resolve } = Promise.withResolvers<Response>()
  const read = currentRead()
  let isSettled = false
  // Bun forgets where a request came from once its answer has left its hands.
  const isOut = () => server.requestIP(request) === null
  const settle = (response: Response) => {
    if (isSettled) return void response.body?.cancel().catch(() => undefined)
    isSettled = true
    resolve(response)
    // Comes after Bun, which waits for the same promise.
    queueMicrotask(() => {
      if (!isOut()) endLine(line)
    })
  }
  const interrupt = () => settle(refuse())
  line.pending.push({ isNative: true, isDone: () => isSettled && isOut(), isLetGo: isOut, interrupt })
  Promise.resolve(answered).then(
    (response) => (read.isOver ? settle(response) : void read.waiting.push(() => settle(response))),
    interrupt,
  )
  return promise
}

/** For a request of node:http, which keeps the order of its own. */
export function queueReply(line: Line, reply: ServerResponse, interrupt: () => void): void {
  const isDone = () => reply.writableFinished || reply.destroyed
  line.pending.push({ isNative: false, isDone, isLetGo: () => reply.writableEnded || reply.destroyed, interrupt })
}

/** What was answered by node:http and is not out at once may be overtaken by a native answer. */
export function endAfterReply(line: Line, reply: ServerResponse): void {
  process.nextTick(() => {
    if (!reply.writableFinished && !reply.destroyed) endLine(line)
  })
}

function endLine(line: Line): void {
  line.deafen()
  line.closeWhenDrained()
}

const MICROTASKS_OF_BUN = 4

/**
 * Ends a busy connection: the oldest request is refused, no other is answered. Returns what Bun is to be given for a native one that
 * came now: nothing, for which it puts nothing behind the refusal, once it is done with that. Where the refusal could not be written,
 * as the client reads nothing, this one never ends.
 */
export async function interruptLine(line: Line): Promise<Response> {
  const [first] = line.pending
  line.deafen()
  first?.interrupt()
  setImmediate(() => line.socket.destroy())
  for (let round = 0; round < MICROTASKS_OF_BUN; round++) await undefined
  return first && !first.isLetGo() ? new Promise<never>(() => undefined) : new Response(null)
}

interface Read {
  isOver: boolean
  waiting: (() => void)[]
}

let reading: Read | undefined

/**
 * Several requests may lie in what Bun reads at once. Which of them is the last is only known when the loop goes on, so no answer
 * is settled before: one that cannot be written at once would already be in the hands of Bun when the next request is.
 */
function currentRead(): Read {
  if (reading) return reading
  const read: Read = { isOver: false, waiting: [] }
  reading = read
  setImmediate(() => {
    reading = undefined
    read.isOver = true
    for (const settle of read.waiting) settle()
  })
  return read
}
