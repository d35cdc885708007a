import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import type { Exchange } from '../../src/http/exchange.ts'
import { type HttpServer, openServer } from '../../src/http/server.ts'
import type { Refusal } from '../../src/kernel/errors.ts'

const options = {
  host: '127.0.0.1',
  port: 0,
  maxHeaderBytes: 8192,
  maxUrlBytes: 2000,
  maxBodyBytes: 100_000,
  idleSeconds: 60,
  maxConnectionsPerAddress: 0,
}
const handlers = {
  fetch: answer,
  refuse: (_: Request, { status, message }: Refusal) => new Response(message, { status }),
}

/** Called by the test that stops a server while this answer is pending. */
let release: (() => void) | undefined
let begun: (() => void) | undefined
/** Called by the handler when its client has gone. */
let left: (() => void) | undefined

/** Gives so many chunks before it fails. */
function failingStream(chunks: number): ReadableStream<Uint8Array> {
  let count = 0
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    await new Promise((resolve) => setImmediate(resolve))
    if (count++ === chunks) throw new Error('the source has failed')
    controller.enqueue(Buffer.from('part'))
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

async function answer(request: Exchange): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  if (pathname === '/slow') {
    await new Promise<void>((resolve) => {
      release = resolve
      begun?.()
    })
    return new Response('finished')
  }
  if (pathname === '/pause') {
    await Bun.sleep(900)
    return new Response('after a pause')
  }
  if (pathname === '/failing') return new Response(failingStream(Number(search.slice(1))))
  if (pathname === '/left') {
    begun?.()
    await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
    left?.()
  }
  if (pathname === '/url') return new Response(request.url)
  if (request.headers.has('if-none-match')) return new Response(null, { status: 304, headers: { etag: '"a"' } })
  if (pathname.startsWith('/api/v1/')) return Response.json([pathname, search, await request.text()], { status: 205 })
  return Response.json({ peer: request.peerAddress, bytes: (await request.arrayBuffer()).byteLength })
}

let server: HttpServer
beforeAll(async () => {
  server = await openServer(handlers, options)
})
afterAll(() => server.stop(0))

/** Sends bytes as they are and returns all that comes back until the server closes. `fetch` hides the body of a 205. */
function exchange(text: string, port = server.port): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

const head = (start: string, ...fields: string[]) =>
  [`${start} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...fields, '', ''].join('\r\n')

test.each([
  '/api/v1/notifications',
  '/api/v1/notifications/',
  '/api/v1/notifications?status=read',
  '/api/v1/notifications/threads/7',
  '/api/v1/repos/some%2Fone/thing/notifications',
])('PUT %s answers 205 with its body', async (path) => {
  const received = await exchange(`${head(`PUT ${path}`, 'Content-Length: 5')}hello`)
  const { pathname, search } = new URL(path, 'http://localhost')
  expect(received).toStartWith('HTTP/1.1 205 ')
  expect(received).toEndWith(`\r\n\r\n${JSON.stringify([pathname, search, 'hello'])}`)
})

test.each(['/', '/api/v1/notifications'])('304 at %s says nothing of a length', async (path) => {
  const received = await exchange(head(`GET ${path}`, 'If-None-Match: "a"'))
  expect(received).toStartWith('HTTP/1.1 304 ')
  expect(received.toLowerCase()).toContain('etag: "a"')
  expect(received).not.toMatch(/content-length|transfer-encoding/i)
  expect(received).toEndWith('\r\n\r\n')
})

test('a handler knows the address of its client', async () => {
  expect(await exchange(head('GET /who'))).toEndWith('{"peer":"127.0.0.1","bytes":0}')
})

test('an address that is too long is 414', async () => {
  expect(await exchange(head(`GET /${'a'.repeat(2000)}`))).toStartWith('HTTP/1.1 414 ')
  // Also where it is longer than a whole head may be.
  expect(await exchange(head(`GET /${'a'.repeat(20_000)}`))).toStartWith('HTTP/1.1 414 ')
})

test.each(['GET /', 'PUT /api/v1/notifications'])('a head that is too large is 431: %s', async (line) => {
  const received = await exchange(head(line, `X-Large: ${'a'.repeat(8180)}`))
  expect(received).toStartWith('HTTP/1.1 431 ')
  expect(received).toEndWith('the head of the request is larger than 8192 bytes')
  expect(await exchange(head(line, `X-Large: ${'a'.repeat(40_000)}`))).toEndWith('larger than 8192 bytes')
  expect(await exchange(head(line, `X-Large: ${'a'.repeat(7900)}`))).toMatch(/^HTTP\/1.1 20[05] /)
})

test('a head within a limit above the usual 16 KiB is accepted', async () => {
  const wide = await openServer(handlers, { ...options, maxHeaderBytes: 65_536 })
  expect(await exchange(head('GET /', `X-Large: ${'a'.repeat(30_000)}`), wide.port)).toStartWith('HTTP/1.1 200 ')
  await wide.stop(0)
})

test('a body that says it is too large is 413', async () => {
  for (const length of ['100001', '9007199254740993', '99999999999999999']) {
    expect(await exchange(head('POST /', `Content-Length: ${length}`))).toStartWith('HTTP/1.1 413 ')
  }
})

test('CONNECT is refused, and its connection ends', async () => {
  expect(await exchange('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')).toStartWith('HTTP/1.1 501 ')
})

test.each(['[', 'x/api/v1/user?', 'a b', 'user@host', 'a#b', 'a:b', '\\'])('the host %j is none', async (host) => {
  for (const path of ['/', '/api/v1/notifications']) {
    const text = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    expect(await exchange(text)).toStartWith('HTTP/1.1 400 ')
  }
})

test.each(['a', 'git', 'git:3000', '[::1]:3000', '192.0.2.1', 'sub.domain.example'])(
  'the host %j is one',
  async (host) => {
    for (const path of ['/', '/api/v1/notifications']) {
      const text = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
      expect(await exchange(text)).toMatch(/^HTTP\/1.1 20[05] /)
    }
  },
)

test('a request of HTTP/1.0 needs no host', async () => {
  expect(await exchange('GET /who HTTP/1.0\r\n\r\n')).toEndWith('{"peer":"127.0.0.1","bytes":0}')
})

test('a client that goes away in the middle of a body, or sends two lengths, harms nobody', async () => {
  const socket = connect(server.port, '127.0.0.1')
  await new Promise<void>((sent) => {
    socket.write(`${head('PUT /api/v1/notifications', 'Content-Length: 500')}half`, () => sent())
  })
  socket.destroy()
  expect(await exchange(`${head('POST /', 'Content-Length: 1', 'Transfer-Encoding: chunked')}0\r\n\r\n`)).toStartWith(
    'HTTP/1.1 400 ',
  )
  expect(await exchange(`${head('POST /', 'Content-Length: 5', 'Content-Length: 6')}hello`)).toStartWith(
    'HTTP/1.1 400 ',
  )
  expect(await exchange(head('GET /who'))).toEndWith('{"peer":"127.0.0.1","bytes":0}')
})

test('a body within the limit arrives whole', async () => {
  const body = 'a'.repeat(100_000)
  expect(await exchange(head('POST /', 'Content-Length: 100000') + body)).toContain('"bytes":100000')
})

test('no answer is cut before the time that a silence may last', async () => {
  const hasty = await openServer(handlers, { ...options, idleSeconds: 1 })
  // Spread over a tick of Bun's clock (4 s): wherever it begins, a request has its second.
  const answers = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      await Bun.sleep(index * 430)
      return exchange(head('GET /pause'), hasty.port)
    }),
  )
  await hasty.stop(0)
  for (const received of answers) expect(received).toEndWith('after a pause')
})

test('a body that trickles in is not waited for without end', async () => {
  const hasty = await openServer(handlers, { ...options, idleSeconds: 1 })
  const bodies = ['/api/v1/notifications', '/'].map(
    (path) =>
      new Promise<string>((resolve) => {
        let received = ''
        const socket = connect(hasty.port, '127.0.0.1', () => socket.write(head(`PUT ${path}`, 'Content-Length: 900')))
        const drip = setInterval(() => socket.write('a'), 200)
        socket.on('data', (chunk) => {
          received += chunk
        })
        socket.on('error', () => undefined)
        socket.on('close', () => {
          clearInterval(drip)
          resolve(received)
        })
      }),
  )
  for (const received of await Promise.all(bodies)) expect(received).not.toStartWith('HTTP/1.1 20')
  await hasty.stop(0)
})

test('a stop lets a running request end and refuses new ones', async () => {
  const stopping = await openServer(handlers, options)
  const running = new Promise<void>((resolve) => {
    begun = resolve
  })
  const answered = exchange(head('GET /slow'), stopping.port)
  await running
  const stopped = stopping.stop(30)
  await expect(exchange(head('GET /'), stopping.port)).rejects.toThrow()
  release?.()
  expect(await answered).toEndWith('finished')
  await stopped
})

test('a stop does not wait for an idle connection', async () => {
  const stopping = await openServer(handlers, options)
  const kept = await fetch(`http://127.0.0.1:${stopping.port}/`)
  await kept.text()
  await stopping.stop(3600)
})

test('a stop cuts what outlasts the deadline', async () => {
  const stopping = await openServer(handlers, options)
  const running = new Promise<void>((resolve) => {
    begun = resolve
  })
  const answered = exchange(head('GET /slow'), stopping.port)
  await running
  await stopping.stop(0.05)
  expect(await answered).toBe('')
})

test('an answer whose source fails is broken off, and is no whole answer', async () => {
  expect(await exchange(head('GET /failing?0'))).toBe('')
  const received = await exchange(head('GET /failing?2'))
  expect(received).toStartWith('HTTP/1.1 200 ')
  expect(received).toEndWith('\r\n4\r\npart\r\n4\r\npart\r\n')
})

test('a handler learns that its client has gone', async () => {
  const running = new Promise<void>((resolve) => {
    begun = resolve
  })
  const gone = new Promise<void>((resolve) => {
    left = resolve
  })
  const socket = connect(server.port, '127.0.0.1', () => socket.write(head('GET /left')))
  await running
  socket.destroy()
  await gone
})

test.each([
  ['//url?c=//d', 'http://localhost/url?c=//d'],
  ['/a/..//url', 'http://localhost/url'],
  ['http://elsewhere:80//url?a', 'http://localhost/url?a'],
])('the address %s is read as %s', async (target, url) => {
  expect(await exchange(head(`GET ${target}`))).toEndWith(`\r\n\r\n${url}`)
})

test('a request for another protocol is answered in this one', async () => {
  const received = await exchange(head('GET /url', 'Upgrade: h2c'))
  expect(received).toStartWith('HTTP/1.1 200 ')
})

test('an expectation that nobody knows is 417', async () => {
  expect(await exchange(head('POST /', 'Expect: miracles', 'Content-Length: 0'))).toStartWith('HTTP/1.1 417 ')
})

test('an answer to HEAD has no body', async () => {
  expect(await exchange(head('HEAD /url'))).toEndWith('\r\n\r\n')
})

test('a short answer says its length', async () => {
  expect((await exchange(head('GET /url'))).toLowerCase()).toContain('content-length: 20\r\n')
})
