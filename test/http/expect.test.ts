import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type HttpServer, openServer } from '../../src/http/server.ts'
import type { Refusal } from '../../src/kernel/errors.ts'
import { sendAfterContinue } from '../harness/expect-continue.ts'

const handlers = {
  fetch: answer,
  refuse: (_: Request, { status, message }: Refusal) => new Response(message, { status }),
}

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/refused') return new Response('no', { status: 401 })
  // As the program does, which asks the database first who it is.
  await new Promise((resolve) => setImmediate(resolve))
  if (pathname === '/left') await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
  const text = await request.text()
  return new Response(text, { status: pathname.startsWith('/api/v1/notifications') ? 205 : 200 })
}

let server: HttpServer
beforeAll(async () => {
  server = await openServer(handlers, {
    host: '127.0.0.1',
    port: 0,
    maxHeaderBytes: 8192,
    maxUrlBytes: 2000,
    maxBodyBytes: 100_000,
    idleSeconds: 60,
    maxConnectionsPerAddress: 0,
  })
})
afterAll(() => server.stop(0))

const put = (path: string, ...fields: string[]) => [`PUT ${path} HTTP/1.1`, 'Host: localhost', ...fields]
const WAITS = ['Connection: close', 'Expect: 100-continue']

test.each([
  ['/', 200],
  ['/api/v1/notifications', 205],
])('a body at %s that waits to be asked for is asked for', async (path, status) => {
  const head = put(path, ...WAITS, 'Content-Length: 5')
  const { asked, answer } = await sendAfterContinue(server.port, { head, body: 'hello' })
  expect(asked).toBe(true)
  expect(answer).toStartWith(`HTTP/1.1 ${status} `)
  expect(answer).toEndWith('\r\n\r\nhello')
})

test('a body of unknown length is asked for, in whatever letters', async () => {
  const head = put('/', 'Connection: close', 'EXPECT: 100-Continue', 'Transfer-Encoding: chunked')
  const { asked, answer } = await sendAfterContinue(server.port, { head, body: '5\r\nhello\r\n0\r\n\r\n' })
  expect(asked).toBe(true)
  expect(answer).toEndWith('\r\n\r\nhello')
})

test.each([
  ['/refused', 5, 401],
  ['/', 100_001, 413],
])(
  'a request to %s of %i bytes that is refused is answered at once, and ends the connection',
  async (path, length, status) => {
    const head = put(path, 'Expect: 100-continue', `Content-Length: ${length}`)
    const { asked, answer } = await sendAfterContinue(server.port, { head, body: '' })
    expect(asked).toBe(false)
    expect(answer).toStartWith(`HTTP/1.1 ${status} `)
  },
)

test.each([
  ['it does not wait', put('/', 'Connection: close', 'Content-Length: 5'), 'hello'],
  ['it has no body', put('/', ...WAITS, 'Content-Length: 0'), ''],
  ['it is HTTP/1.0', ['PUT / HTTP/1.0', ...WAITS, 'Content-Length: 5'], 'hello'],
  ['it is HTTP/1.0 and has no length', ['PUT /api/v1/notifications HTTP/1.0', 'Host: a', ...WAITS], ''],
])('a request is not asked for its body when %s', async (_, head, body) => {
  const whole = [...head, '', body].join('\r\n')
  const received = await new Promise<string>((resolve) => {
    let text = ''
    const socket = connect(server.port, '127.0.0.1', () => socket.write(whole))
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
  })
  expect(received).toMatch(/^HTTP\/1.1 20[05] /)
  expect(received).toEndWith(`\r\n\r\n${body}`)
})

test('each request of a connection is asked for its own, and nothing comes after an answer', async () => {
  const socket = connect(server.port, '127.0.0.1')
  let text = ''
  const heard = (end: string) =>
    new Promise<void>((resolve) => {
      const listen = (chunk: Buffer) => {
        text += chunk
        if (!text.endsWith(end)) return
        socket.off('data', listen)
        resolve()
      }
      socket.on('data', listen)
    })
  for (const body of ['first', 'other']) {
    const asked = heard('100 Continue\r\n\r\n')
    socket.write(`${put('/', 'Expect: 100-continue', 'Content-Length: 5').join('\r\n')}\r\n\r\n`)
    await asked
    const answered = heard(`\r\n\r\n${body}`)
    socket.write(body)
    await answered
  }
  const last = heard('\r\n\r\nlast!')
  socket.write(`${put('/', 'Content-Length: 5').join('\r\n')}\r\n\r\nlast!`)
  await last
  socket.destroy()
  const statuses = text.split('HTTP/1.1 ').map((answer) => answer.slice(0, 3))
  expect(statuses).toEqual(['', '100', '200', '100', '200', '200'])
})

test('a client that has gone is not asked, and harms nobody', async () => {
  const head = put('/left', ...WAITS, 'Content-Length: 5').join('\r\n')
  const socket = connect(server.port, '127.0.0.1')
  await new Promise<void>((sent) => socket.write(`${head}\r\n\r\n`, () => sent()))
  socket.destroy()
  const waiting = { head: put('/', ...WAITS, 'Content-Length: 5'), body: 'hello' }
  expect(await sendAfterContinue(server.port, waiting)).toMatchObject({ asked: true })
})
