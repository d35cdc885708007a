import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Exchange } from '../../src/http/exchange.ts'
import { type HttpServer, openServer } from '../../src/http/server.ts'
import type { Refusal } from '../../src/kernel/errors.ts'
import { openRaw, type RawConnection } from '../harness/raw-answers.ts'

const LARGE = 20_000_000
const NOTIFICATIONS = '/api/v1/notifications'
const folder = mkdtempSync(join(tmpdir(), 'hearth-pipelining-'))
const file = join(folder, 'large')

const options = {
  host: '127.0.0.1',
  port: 0,
  maxHeaderBytes: 8192,
  maxUrlBytes: 2000,
  maxBodyBytes: 1_000_000,
  idleSeconds: 60,
  maxConnectionsPerAddress: 0,
}
const handlers = {
  fetch: answer,
  refuse: (_: Request, { status, message }: Refusal) => new Response(message, { status }),
}

/** Requests that wait to be released, by their path and query. */
const held = new Map<string, () => void>()
/** Called when a request of this path and query has been taken. */
const taken = new Map<string, () => void>()
const isTaken = (path: string) => new Promise<void>((resolve) => taken.set(path, resolve))
const release = (path: string) => held.get(path)?.()

async function answer(request: Exchange): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const path = pathname + search
  if (search.startsWith('?at-once')) return new Response(path)
  // As the program does, which asks the database first who it is.
  await new Promise((resolve) => setImmediate(resolve))
  const text = await request.text()
  if (search.startsWith('?held')) {
    await new Promise<void>((resolve) => {
      held.set(path, resolve)
      taken.get(path)?.()
    })
  }
  queueMicrotask(() => taken.get(path)?.())
  const status = pathname === NOTIFICATIONS ? 205 : 200
  return body(pathname) ?? new Response(path + text, { status })
}

function body(path: string): Response | undefined {
  if (path === '/file') return new Response(Bun.file(file))
  if (path === '/text') return new Response('a'.repeat(LARGE))
  if (path === '/buffer') return new Response(Buffer.alloc(LARGE, 'a'))
  if (path === '/unchanged') return new Response(null, { status: 304 })
  if (path === '/stream' || path === '/trickle') {
    const chunks = path === '/stream' ? 200 : 3
    const size = path === '/stream' ? LARGE / 200 : 2
    let count = 0
    const pull = async (controller: ReadableStreamDefaultController) => {
      await new Promise((resolve) => setImmediate(resolve))
      if (count++ === chunks) controller.close()
      else controller.enqueue(Buffer.alloc(size, 'a'))
    }
    return new Response(new ReadableStream({ pull }))
  }
  return undefined
}

let server: HttpServer
const opened: RawConnection[] = []
beforeAll(async () => {
  writeFileSync(file, Buffer.alloc(LARGE, 'a'))
  server = await openServer(handlers, options)
})
afterEach(async () => {
  for (const resolve of held.values()) resolve()
  for (const { socket } of opened.splice(0)) socket.destroy()
  held.clear()
  taken.clear()
  // Whatever a connection went through, it harms no other.
  const { socket, answers } = open()
  socket.write(get('/after'))
  expect(shown(await answers(1))).toEqual(['200 /after'])
})
afterAll(async () => {
  await server.stop(0)
  rmSync(folder, { recursive: true })
})

function open(how: { isPaused?: boolean; methods?: string[] } = {}): RawConnection {
  const connection = openRaw(server.port, how)
  opened.push(connection)
  return connection
}
const get = (path: string, ...fields: string[]) =>
  ['GET ', path, ' HTTP/1.1\r\nHost: localhost\r\n', ...fields.map((field) => `${field}\r\n`), '\r\n'].join('')
const post = (path: string, text: string, ...fields: string[]) =>
  get(path, `Content-Length: ${text.length}`, ...fields).replace('GET', 'POST') + text
const put = (path: string, text: string) => post(path, text).replace('POST', 'PUT')
const shown = (answers: Awaited<ReturnType<RawConnection['answers']>>) =>
  answers.map(({ status, body }) => `${status} ${body.length > 1000 ? body.length : body}`)

const HELD = '/held?held'
const chunked = get('/post', 'Transfer-Encoding: chunked').replace('GET', 'POST')

/** Requests that may lie behind one another in one packet, each with its answer. */
const kinds: Record<string, [request: string, answer: string]> = {
  'a quick one': [get('/fast'), '200 /fast'],
  'one that is answered at once': [get('/a?at-once'), '200 /a?at-once'],
  'one with a body': [post('/post', 'hello'), '200 /posthello'],
  'one with chunks': [`${chunked}3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`, '200 /posthello'],
  'one that waits for 100': [post('/post', 'hello', 'Expect: 100-continue'), '200 /posthello'],
  'one with an answer of 205': [put(NOTIFICATIONS, 'hello'), `205 ${NOTIFICATIONS}hello`],
  'one with an answer of 304': [get('/unchanged'), '304 '],
  'a file': [get('/file'), `200 ${LARGE}`],
  'a large text': [get('/text'), `200 ${LARGE}`],
  'a buffer': [get('/buffer'), `200 ${LARGE}`],
  'a stream': [get('/stream'), `200 ${LARGE}`],
  'a slow stream': [get('/trickle'), '200 aaaaaa'],
}
const names = Object.keys(kinds)

test.each(names)(
  '%s behind a request that takes its time is answered after it, in one packet and in two',
  async (name) => {
    const [request, expected] = kinds[name] ?? ['', '']
    for (const isTogether of [true, false]) {
      const { socket, answers } = open()
      const running = isTaken(HELD)
      socket.write(isTogether ? get(HELD) + request : get(HELD))
      await running
      if (!isTogether) await new Promise<void>((sent) => socket.write(request, () => sent()))
      release(HELD)
      expect(shown(await answers(2))).toEqual([`200 ${HELD}`, expected])
    }
  },
)

test.each(names)('%s three times in one packet is answered three times', async (name) => {
  const [request, expected] = kinds[name] ?? ['', '']
  const { socket, answers } = open()
  socket.write(request.repeat(3))
  expect(shown(await answers(3))).toEqual([expected, expected, expected])
})

test('requests of all kinds in one packet are answered in order, wherever it is cut', async () => {
  const small = Object.values(kinds).filter(([, answer]) => !answer.endsWith(String(LARGE)))
  const text = small.map(([request]) => request).join('')
  const cuts = Array.from({ length: 60 }, (_, index) => 1 + Math.floor((index * text.length) / 60))
  for (const cut of cuts) {
    const { socket, answers } = open()
    await new Promise<void>((sent) => socket.write(text.slice(0, cut), () => sent()))
    await new Promise((resolve) => setImmediate(resolve))
    socket.write(text.slice(cut))
    expect(shown(await answers(small.length))).toEqual(small.map(([, answer]) => answer))
    socket.destroy()
  }
})

test.each(['/file', '/text', '/buffer', '/stream'])(
  'a request behind %s that is read late leaves it whole, and is answered',
  async (path) => {
    for (const [next, answer] of [kinds['a quick one'], kinds['one with an answer of 205']].flatMap((kind) =>
      kind ? [kind] : [],
    )) {
      const { socket, answers } = open({ isPaused: true })
      const running = isTaken(path)
      socket.write(get(path))
      await running
      await new Promise<void>((sent) => socket.write(next, () => sent()))
      expect(shown(await answers(2))).toEqual([`200 ${LARGE}`, answer])
    }
  },
)

test('requests that wait for their answers are all answered on one connection', async () => {
  const methods = ['GET', 'HEAD', 'GET', 'POST', 'PUT', 'POST', 'GET', 'PUT', 'GET']
  const { socket, answers } = open({ methods })
  const requests = [
    get('/one'),
    get('/file').replace('GET', 'HEAD'),
    get('/unchanged'),
    post('/two', 'hello'),
    put(NOTIFICATIONS, 'hello'),
    post('/three', 'hello', 'Expect: 100-continue'),
    get('/four?at-once'),
    put(NOTIFICATIONS, ''),
    get('/five'),
  ]
  for (const [index, request] of requests.entries()) {
    socket.write(request)
    await answers(index + 1)
  }
  expect(shown(await answers(9))).toEqual([
    '200 /one',
    '200 ',
    '304 ',
    '200 /twohello',
    `205 ${NOTIFICATIONS}hello`,
    '200 /threehello',
    '200 /four?at-once',
    `205 ${NOTIFICATIONS}`,
    '200 /five',
  ])
})

test('the next request is looked at only when the one before it is answered', async () => {
  const { socket, answers } = open()
  let isSecondTaken = false
  const running = isTaken(HELD)
  void isTaken('/fast').then(() => {
    isSecondTaken = true
  })
  socket.write(get(HELD) + get('/fast'))
  await running
  const other = open()
  other.socket.write(get('/other'))
  await other.answers(1)
  expect(isSecondTaken).toBe(false)
  release(HELD)
  expect(shown(await answers(2))).toEqual([`200 ${HELD}`, '200 /fast'])
})

test.each([
  ['nonsense', 'NONSENSE\r\n\r\n', 400],
  ['a head that is too large', get('/', `X: ${'a'.repeat(9000)}`), 431],
])('%s behind a request ends the connection, once that is answered', async (_, text, status) => {
  const { socket, answers } = open()
  const running = isTaken(HELD)
  socket.write(get(HELD) + text)
  await running
  release(HELD)
  const all = await answers()
  expect(all.map((answer) => answer.status)).toEqual([200, status])
})

test('a body with a broken chunk is refused at once, and ends the connection', async () => {
  const { socket, answers } = open()
  socket.write(`${chunked}3\r\nhel\r\nzz\r\n`)
  const all = await answers()
  expect(all.map(({ status }) => status)).toEqual([400])
})

test('more requests than anybody sends before the first answer end the connection', async () => {
  const { socket, received } = open()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(get(HELD) + get('/fast').repeat(1000))
  await closed
  expect(received().length).toBe(0)
})

test('a client that goes away at once after two requests harms nobody', async () => {
  for (const second of [get('/fast'), put(NOTIFICATIONS, ''), get('/stream')]) {
    const { socket } = open()
    await new Promise<void>((sent) => socket.write(get(HELD) + second, () => sent()))
    socket.destroy()
    for (const resolve of held.values()) resolve()
  }
})

test('a request that comes while the server stops leaves the one before it whole', async () => {
  const stopping = await openServer(handlers, options)
  const connection = openRaw(stopping.port)
  const running = isTaken(HELD)
  connection.socket.write(get(HELD))
  await running
  const stopped = stopping.stop(30)
  await new Promise<void>((sent) => connection.socket.write(get('/fast'), () => sent()))
  release(HELD)
  const [first] = await connection.answers()
  expect([first?.status, first?.headers.get('connection'), `${first?.body}`]).toEqual([200, 'close', HELD])
  await stopped
})
