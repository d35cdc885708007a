import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askForBody } from '../../src/http/connection.ts'
import { type Front, openFront } from '../../src/http/front.ts'
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
  maxHeldBytes: 1000,
  idleSeconds: 60,
}
const handlers = {
  fetch: answer,
  refuse: (_: Request, { status, message }: Refusal) => new Response(message, { status }),
}

/** Requests that wait to be released, by what they are told with. */
const held = new Map<string, () => void>()
/** Called when a request of this path and query has been taken. */
const taken = new Map<string, () => void>()
const isTaken = (path: string) => new Promise<void>((resolve) => taken.set(path, resolve))
const release = (path: string) => held.get(path)?.()

async function answer(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const path = pathname + search
  if (search.startsWith('?at-once')) return new Response(path)
  // As the program does, which asks the database first who it is.
  await new Promise((resolve) => setImmediate(resolve))
  if (request.method === 'POST' || request.method === 'PUT') askForBody(request)
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

let front: Front
const opened: RawConnection[] = []
beforeAll(async () => {
  writeFileSync(file, Buffer.alloc(LARGE, 'a'))
  front = await openFront(handlers, options)
})
afterEach(async () => {
  for (const resolve of held.values()) resolve()
  for (const { socket } of opened.splice(0)) socket.destroy()
  held.clear()
  taken.clear()
  // What was interrupted has let go of its connection, and harms no other.
  const { socket, answers } = open()
  socket.write(get('/after'))
  expect(told(await answers(1))).toEqual(['200 /after'])
  expect(front.server.pendingRequests).toBe(0)
})
afterAll(async () => {
  await front.stop(0)
  rmSync(folder, { recursive: true })
})

function open(how: { isPaused?: boolean; methods?: string[] } = {}): RawConnection {
  const connection = openRaw(front.port, how)
  opened.push(connection)
  return connection
}
const get = (path: string, ...fields: string[]) =>
  ['GET ', path, ' HTTP/1.1\r\nHost: localhost\r\n', ...fields.map((field) => `${field}\r\n`), '\r\n'].join('')
const post = (path: string, text: string, ...fields: string[]) =>
  get(path, `Content-Length: ${text.length}`, ...fields).replace('GET', 'POST') + text
const put = (path: string, text: string) => post(path, text).replace('POST', 'PUT')
const told = (answers: Awaited<ReturnType<RawConnection['answers']>>) =>
  answers.map(({ status, body }) => `${status} ${body.length > 1000 ? body.length : body}`)

const OVERTAKEN = '400 the next request came before this one was answered'

test.each<[string, string[]]>([
  ['a quick one', [get('/held?held'), get('/fast')]],
  ['two more', [get('/held?held'), get('/fast'), get('/third')]],
  ['one that is answered at once', [get('/held?held'), get('/a?at-once')]],
  ['one with a body', [get('/held?held'), post('/post', 'hello')]],
  ['one behind a body', [post('/held?held', 'hello'), get('/fast')]],
  ['half a body', [get('/held?held'), post('/post', 'hello').slice(0, -3)]],
  [
    'a body that is too large',
    [get('/held?held'), post('/post', 'a', 'Content-Length: 9000000').replace('h: 1\r\n', 'h: 9000000\r\n')],
  ],
  ['one for node:http', [get('/held?held'), put(NOTIFICATIONS, '')]],
  ['one for node:http with a body', [get('/held?held'), put(NOTIFICATIONS, 'hello')]],
  ['a native one behind node:http', [put(`${NOTIFICATIONS}?held`, 'hello'), get('/fast')]],
  ['a native one behind two of node:http', [put(`${NOTIFICATIONS}?held`, ''), put(NOTIFICATIONS, ''), get('/fast')]],
  ['one that waits for 100', [get('/held?held'), post('/post', '', 'Expect: 100-continue').replace('h: 0', 'h: 5')]],
  ['a large one', [get('/held?held'), get('/file')]],
  ['a stream', [get('/held?held'), get('/stream')]],
])('%s that comes before an answer ends the connection, in one packet and in its own', async (_, requests) => {
  const { socket, answers } = open()
  socket.write(requests.join(''))
  const together = told(await answers())
  expect(together).toEqual([OVERTAKEN])
  for (const resolve of held.values()) resolve()
  const [first = '', ...others] = requests
  const path = /^\w+ (\S+)/.exec(first)?.[1] ?? ''
  const apart = open()
  const running = isTaken(path)
  apart.socket.write(first)
  await running
  apart.socket.write(others.join(''))
  expect(told(await apart.answers())).toEqual([OVERTAKEN])
})

test.each(['/file', '/text', '/buffer', '/stream', '/trickle', '/unchanged', '/a?at-once', '/quick'])(
  'requests for %s in one packet are not mixed',
  async (path) => {
    const { socket, answers } = open()
    socket.write(get(path).repeat(3))
    expect(told(await answers())).toEqual([OVERTAKEN])
  },
)

test.each(['/file', '/text', '/buffer', '/stream'])(
  'a request behind %s that is read late leaves it whole, and the connection ends',
  async (path) => {
    for (const next of [get('/fast'), put(NOTIFICATIONS, ''), 'NONSENSE\r\n\r\n']) {
      const { socket, answers } = open({ isPaused: true })
      const running = isTaken(path)
      socket.write(get(path))
      await running
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise<void>((sent) => socket.write(next, () => sent()))
      expect(told(await answers())).toEqual([`200 ${LARGE}`])
    }
  },
  20_000,
)

test('a stream that comes slowly is whole as well', async () => {
  const { socket, answers } = open()
  socket.write(get('/trickle'))
  expect(told(await answers())).toEqual(['200 aaaaaa'])
})

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
  expect(told(await answers(9))).toEqual([
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

test('requests for node:http are answered in order', async () => {
  const { socket, answers } = open()
  const path = `${NOTIFICATIONS}?held`
  const running = isTaken(path)
  socket.write(put(path, 'one') + put(NOTIFICATIONS, 'two') + put(NOTIFICATIONS, ''))
  await running
  release(path)
  expect(told(await answers(3))).toEqual([`205 ${path}one`, `205 ${NOTIFICATIONS}two`, `205 ${NOTIFICATIONS}`])
})

test('nonsense behind a request ends the connection', async () => {
  const { socket, answers } = open()
  socket.write(`${get('/held?held')}NONSENSE\r\n\r\n`)
  expect(told(await answers())).toEqual(['400 '])
})

test('a client that goes away at once after two requests harms nobody', async () => {
  for (const second of [get('/fast'), put(NOTIFICATIONS, '')]) {
    const { socket } = open()
    await new Promise<void>((sent) => socket.write(get('/held?held') + second, () => sent()))
    socket.destroy()
    for (const resolve of held.values()) resolve()
  }
})

test('a request that comes while the server stops leaves the one before it whole', async () => {
  const stopping = await openFront(handlers, options)
  const connection = openRaw(stopping.port)
  const running = isTaken('/held?held')
  connection.socket.write(get('/held?held'))
  await running
  const stopped = stopping.stop(30)
  await new Promise<void>((sent) => connection.socket.write(get('/fast'), () => sent()))
  const other = openRaw(front.port)
  other.socket.write(get('/other'))
  await other.answers(1)
  other.socket.destroy()
  release('/held?held')
  expect(['200 /held?held', OVERTAKEN]).toContain(told(await connection.answers())[0] ?? '')
  await stopped
})
