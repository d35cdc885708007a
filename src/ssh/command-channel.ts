import type { Socket } from 'node:net'
import type { ServerChannel } from 'ssh2'
import { PACE_BYTES, Pace } from '../kernel/pace.ts'
import { Patience } from './patience.ts'

/** One command's way to its client and back. */
export interface CommandChannel {
  /** What the client sends, as fast as it is read: unread, it stops the client at its window of 2 MiB. */
  input: ReadableStream<Uint8Array>
  /** Fires when the client is gone, cut off, or too slow. */
  signal: AbortSignal
  /** From now on: the longest time in which nothing passes either way, and that the client may take for 128 KiB of what it sends. */
  allowSilence(seconds: number): void
  /** Resolves when the client has room for more. Rejects when it is gone, and when it takes 128 KiB too slowly. */
  send(chunk: Uint8Array): Promise<void>
  /** A line for the person at the terminal. */
  say(text: string): void
  /** Exit status and end of output. What the client still sends can be read. */
  finish(exitCode: number): void
  close(): void
}

/** Bytes that may wait in the socket. The library does not look at it, so a client with a large window could fill the memory. */
const MAX_BACKLOG_BYTES = 1024 * 1024

interface Rules {
  /** Fires when the client is gone or cut off. */
  gone: AbortSignal
  /** Longest time for each 128 KiB that the client takes. */
  seconds: number
}

export function openCommandChannel(channel: ServerChannel, socket: Socket, rules: Rules): CommandChannel {
  const slow = new AbortController()
  const signal = AbortSignal.any([rules.gone, slow.signal])
  const patience = new Patience(() => slow.abort())
  const pace = new Pace(rules.seconds)
  const taken = async (start: (done: () => void) => unknown) => {
    if (!(await pace.keeps(settled(signal, start)))) slow.abort()
    signal.throwIfAborted()
  }
  // Nobody waits for what can no longer be delivered.
  channel.on('error', () => undefined)
  channel.stderr.on('error', () => undefined)
  return {
    input: readChannel(channel, signal, patience),
    signal,
    allowSilence: (seconds) => patience.allow(seconds),
    async send(chunk) {
      for (let at = 0; at < chunk.length; at += PACE_BYTES) {
        const piece = chunk.subarray(at, at + PACE_BYTES)
        await taken((done) => channel.write(piece, done))
        while (socket.writableLength > MAX_BACKLOG_BYTES) await taken((done) => socket.once('drain', done))
        pace.count(piece.length)
        patience.sent(piece.length)
      }
    },
    say: (text) => void channel.stderr.write(`${text}\n`),
    finish(exitCode) {
      channel.exit(exitCode)
      channel.eof()
    },
    close() {
      patience.end()
      channel.end()
    },
  }
}

/** Waits for the one callback, and no longer than until the signal: the library forgets callbacks of a closed channel. */
function settled(signal: AbortSignal, start: (done: () => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error('the client is gone'))
    if (signal.aborted) return fail()
    signal.addEventListener('abort', fail, { once: true })
    start(() => {
      signal.removeEventListener('abort', fail)
      resolve()
    })
  })
}

function readChannel(channel: ServerChannel, signal: AbortSignal, patience: Patience): ReadableStream<Uint8Array> {
  let isOpen = true
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        channel.pause()
        channel.on('data', (chunk: Uint8Array) => {
          channel.pause()
          patience.received(chunk.length)
          if (isOpen) controller.enqueue(chunk)
        })
        const end = (finish: () => void) => () => {
          if (isOpen) finish()
          isOpen = false
        }
        channel.once(
          'end',
          end(() => controller.close()),
        )
        signal.addEventListener(
          'abort',
          end(() => controller.error(new Error('the client is gone'))),
          { once: true },
        )
      },
      pull() {
        patience.asked()
        channel.resume()
      },
      cancel() {
        isOpen = false
      },
    },
    { highWaterMark: 0 },
  )
}
