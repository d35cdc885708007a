import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createServer } from 'node:http'
import { connect, Socket } from 'node:net'
import { trackConnections } from '../../src/http/connections.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { type HttpServer, openServer } from '../../src/http/server.ts'
import { Refusal } from '../../src/kernel/errors.ts'

/** Each client here is too slow for a server that waits for a second at most. The tests wait for the server to end it. */
const handlers = {
  fetch: answer,
  refuse: (_: Request, { status, message }: Refusal) => new Response(message, { status }),
}
const options = {
  host: '127.0.0.1',
  port: 0,
  maxHeaderBytes: 8192,
  maxUrlBytes: 2000,
  maxBodyBytes: 100_000_000,
  idleSeconds: 1,
  maxConnectionsPerAddress: 0,
}

let endOfSource = Promise.withResolvers<void>()
/** Bytes that were taken from the source of the latest endless answer. */
let given = 0

async function answer(request: Exchange): Promise<Response> {
  if (new URL(request.url).pathname !== '/endless') return readBody(request)
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    given += 65_536
    controller.enqueue(new Uint8Array(65_536))
  }
  return new Response(new ReadableStream({ pull, cancel: () => endOfSource.resolve() }, { highWaterMark: 0 }))
}

/** A body that does not come fails with the refusal for its client. */
async function readBody(request: Exchange): Promise<Response> {
  try {
    return new Response(await request.text())
  } catch (error) {
    if (error instanceof Refusal) return handlers.refuse(request, error)
    throw error
  }
}

beforeEach(() => {
  given = 0
  endOfSource = Promise.withResolvers<void>()
})

let server: HttpServer
beforeAll(async () => {
  server = await openServer(handlers, options)
})
afterAll(() => server.stop(0))

interface Watched {
  socket: Socket
  /** The beginning of what came, once the server has closed. */
  end: Promise<string>
}

function open(text: string, port = server.port): Watched {
  let received = ''
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  socket.on('data', (chunk) => {
    if (received.length < 1000) received += chunk
  })
  socket.on('error', () => undefined)
  return { socket, end: new Promise((resolve) => socket.on('close', () => resolve(received))) }
}

const head = (line: string, ...fields: string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...fields, '', ''].join('\r\n')

test.each([
  ['nothing at all', ''],
  ['half a line', 'GET /a'],
  ['half a head', 'GET / HTTP/1.1\r\nHost: a\r\n'],
])('a client that sends %s gets 408, and is cut', async (_, text) => {
  expect(await open(text).end).toStartWith('HTTP/1.1 408 ')
})

test.each([
  ['stops', 'Content-Length: 900', 'half of it'],
  ['stops within a chunk', 'Transfer-Encoding: chunked', '5\r\nhel'],
])('a client whose body %s is refused, and cut', async (_, field, text) => {
  expect(await open(head('POST /', field) + text).end).toStartWith('HTTP/1.1 4')
})

test.each([
  ['head', 'GET /', 'a'],
  ['body with a length', head('POST /', 'Content-Length: 90000000'), 'a'],
  ['body without end', head('POST /', 'Transfer-Encoding: chunked'), '1\r\na\r\n'],
])('a client whose %s trickles in is cut, however long it goes on', async (_, start, drop) => {
  const { socket, end } = open(start)
  const drip = setInterval(() => socket.write(drop), 50)
  expect(await end).not.toStartWith('HTTP/1.1 200')
  clearInterval(drip)
})

test('a client that reads nothing is cut, and what it was sent is ended', async () => {
  const { socket, end } = open(head('GET /endless'))
  socket.pause()
  await endOfSource.promise
  // What lies in the kernel and one step more: the server does not read ahead for a client that does not read.
  expect(given).toBeLessThan(20_000_000)
  socket.resume()
  await end
})

test('a client that is never silent but reads too slowly is cut', async () => {
  const { socket, end } = open(head('GET /endless'))
  socket.pause()
  // Some 64 KiB, never silent for a second.
  const drip = setInterval(() => {
    socket.once('data', () => socket.pause())
    socket.resume()
  }, 800)
  await endOfSource.promise
  clearInterval(drip)
  socket.resume()
  await end
})

test('a client that reads steadily is served for longer than a silence may last', async () => {
  const { socket } = open(head('GET /endless'))
  const since = performance.now()
  await new Promise<void>((resolve) =>
    socket.on('data', () => {
      if (performance.now() - since > 2500) resolve()
    }),
  )
  expect(socket.destroyed).toBe(false)
  socket.destroy()
  await endOfSource.promise
})

test('a connection that is idle after an answer is closed', async () => {
  expect(await open(head('GET /')).end).toStartWith('HTTP/1.1 200 ')
})

test('a client that goes on sending a body that nobody wanted is cut', async () => {
  const strict = await openServer(handlers, { ...options, maxBodyBytes: 1000 })
  const { socket, end } = open(head('POST /', 'Content-Length: 90000000'), strict.port)
  const drip = setInterval(() => socket.write('a'), 50)
  expect(await end).toStartWith('HTTP/1.1 413 ')
  clearInterval(drip)
  await strict.stop(0)
})

test('an address has so many connections and no more', async () => {
  const few = await openServer(handlers, { ...options, idleSeconds: 60, maxConnectionsPerAddress: 2 })
  const answered = (watched: Watched) => new Promise((resolve) => watched.socket.once('data', resolve))
  const first = open(head('GET /'), few.port)
  await answered(first)
  const second = open(head('GET /'), few.port)
  await answered(second)
  expect(await open(head('GET /'), few.port).end).toBe('')
  first.socket.destroy()
  await first.end
  // The server hears of the end a moment later; until then it closes the new connection as well.
  let received = ''
  while (received === '') received = await open(head('GET /', 'Connection: close'), few.port).end
  expect(received).toStartWith('HTTP/1.1 200 ')
  second.socket.destroy()
  await few.stop(0)
})

test('the addresses of one /64 have their connections together', () => {
  const front = createServer()
  // What comes over the machine's own addresses is all of one: these connections only say where they come from.
  front.removeAllListeners('connection')
  trackConnections(front, { maxConnectionsPerAddress: 2 })
  const isRefused = (remoteAddress: string) => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
    front.emit('connection', socket)
    return socket.destroyed
  }
  const own = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2', '2001:db8:1:2::3'].map(isRefused)
  expect(own).toEqual([false, false, true])
  expect(isRefused('2001:db8:1:3::1')).toBe(false)
  expect(['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201'].map(isRefused)).toEqual([false, false, true])
})
