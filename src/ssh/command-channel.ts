import type { Socket } from 'node:net'
import type { ServerChannel } from 'ssh2'

/** One command's way to its client and back. */
export interface CommandChannel {
  /** What the client sends, as fast as it is read: unread, it stops the client at its window of 2 MiB. */
  input: ReadableStream<Uint8Array>
  /** Fires when the client is gone, cut off, or silent for too long. */
  signal: AbortSignal
  /** From now on: the longest time in which nothing passes either way. */
  allowSilence(seconds: number): void
  /** Resolves when the client has room for more. Rejects when it is gone. */
  send(chunk: Uint8Array): Promise<void>
  /** A line for the person at the terminal. */
  say(text: string): void
  /** Exit status and end of output. What the client still sends can be read. */
  finish(exitCode: number): void
  close(): void
}

/** Bytes that may wait in the socket. The library does not look at it, so a client with a large window could fill the memory. */
const MAX_BACKLOG_BYTES = 1024 * 1024

/** @param gone fires when the client is gone or cut off */
export function openCommandChannel(channel: ServerChannel, socket: Socket, gone: AbortSignal): CommandChannel {
  const silent = new AbortController()
  const signal = AbortSignal.any([gone, silent.signal])
  let timer: ReturnType<typeof setTimeout> | undefined
  // Nobody waits for what can no longer be delivered.
  channel.on('error', () => undefined)
  channel.stderr.on('error', () => undefined)
  const passed = () => timer?.refresh()
  return {
    input: readChannel(channel, signal, passed),
    signal,
    allowSilence(seconds) {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), seconds * 1000)
    },
    async send(chunk) {
      await settled(signal, (done) => channel.write(chunk, done))
      passed()
      while (socket.writableLength > MAX_BACKLOG_BYTES) await settled(signal, (done) => socket.once('drain', done))
      passed()
    },
    say: (text) => void channel.stderr.write(`${text}\n`),
    finish(exitCode) {
      channel.exit(exitCode)
      channel.eof()
    },
    close() {
      clearTimeout(timer)
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

function readChannel(channel: ServerChannel, signal: AbortSignal, passed: () => void): ReadableStream<Uint8Array> {
  let isOpen = true
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        channel.pause()
        channel.on('data', (chunk: Uint8Array) => {
          channel.pause()
          passed()
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
      pull: () => void channel.resume(),
      cancel() {
        isOpen = false
      },
    },
    { highWaterMark: 0 },
  )
}
