import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { listen } from '../harness/listen.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { openSink, type Sink } from './sink.ts'

/** Receivers that behave badly, beside one that does not. */
let service: TestService
let owner: TestUser
let repo: TestRepository
let sink: Sink
const sockets = new Set<Socket>()
const closing: (() => void)[] = []

beforeAll(async () => {
  service = await startTestService({ settings: { WEBHOOK_ALLOWED_HOSTS: 'loopback', WEBHOOK_TIMEOUT_SECONDS: '60' } })
  owner = await service.createUser()
  sink = await openSink()
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  for (const close of closing.splice(0)) close()
  sink.answer((response) => void response.end('ok'))
  await service.context.sql`delete from hooks`
  await service.drain()
  sink.received.length = 0
})
afterAll(async () => {
  await service.stop()
  await sink.close()
})

/** A receiver below HTTP, which is given each connection with the first that came on it. */
async function receive(take: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => take(socket))
  })
  closing.push(() => server.close())
  return `http://127.0.0.1:${await listen(server)}/hook`
}

async function addHook(url: string): Promise<string> {
  const config = { url, content_type: 'json' }
  const made = await owner.client.post(`${repo.path}/hooks`, {
    type: 'gitea',
    active: true,
    events: ['issues_only'],
    config,
  })
  return `${repo.path}/hooks/${made.number('id')}`
}

async function freshRepository(): Promise<void> {
  repo = await service.createRepository(owner)
  await service.drain()
}

const LARGE_HEAD = Array.from({ length: 2500 }, (_, line) => `x-${line}: ${'y'.repeat(4000)}\r\n`).join('')

test.each<[string, (socket: Socket) => void, Record<string, unknown>]>([
  [
    'closes in the middle of its answer',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
    { status: 'waiting', response_status: null, error: expect.stringContaining('in the middle of the answer') },
  ],
  [
    'answers with a head of ten megabytes',
    (socket) => socket.end(`HTTP/1.1 200 OK\r\n${LARGE_HEAD}\r\n`),
    { status: 'waiting', response_status: null, error: expect.stringContaining('the connection ended') },
  ],
  [
    'leads to the metadata of a cloud',
    (socket) => socket.end('HTTP/1.1 307 X\r\nlocation: http://169.254.169.254/latest\r\ncontent-length: 0\r\n\r\n'),
    { status: 'failed', response_status: null, error: expect.stringContaining('may not reach') },
  ],
  [
    'answers without end',
    (socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      }
      socket.on('drain', more)
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      more()
    },
    { status: 'delivered', response_status: 200, error: null },
  ],
])('of a receiver that %s the delivery says so, and another hook is told', async (_, take, state) => {
  await freshRepository()
  const hostile = await addHook(await receive(take))
  await addHook(`${sink.url}/well`)
  await owner.client.post(`${repo.path}/issues`, { title: 'Told' })
  await service.drain()
  expect((await owner.client.get(`${hostile}/deliveries`)).body).toMatchObject([{ attempts: 1, ...state }])
  expect(sink.received.map(({ path }) => path)).toEqual(['/well'])
})

test('receivers that say nothing hold up nobody else', async () => {
  await freshRepository()
  const silent = await receive(() => undefined)
  for (let hook = 0; hook < 5; hook++) await addHook(silent)
  await addHook(`${sink.url}/well`)
  await owner.client.post(`${repo.path}/issues`, { title: 'Told' })
  const draining = service.drain()
  await until(() => sockets.size === 5, 'five requests are on their way')
  await until(() => sink.received.length === 1, 'the other receiver is told')
  for (const socket of sockets) socket.destroy()
  await draining
})

/** So many deliveries that wait for a hook, none of them behind another. */
async function fill(hook: string, count: number): Promise<void> {
  await owner.client.patch(hook, { active: false })
  await service.context.sql`
    insert into hook_deliveries (hook_id, event_type, subject, payload)
    select ${Number(hook.split('/').at(-1))}, 'issues', 'alone:' || n, '{}' from generate_series(1, ${count}::int) n`
  await owner.client.patch(hook, { active: true })
}

test('one host has sixteen requests at a time, of all its hooks, and one of a hook that fails', async () => {
  await freshRepository()
  const held: ServerResponse[] = []
  let most = 0
  sink.answer((response) => {
    held.push(response)
    most = Math.max(most, held.length)
  })
  const hooks = [await addHook(sink.url), await addHook(sink.url)]
  for (const hook of hooks) await fill(hook, 20)
  const { sql } = service.context
  const draining = service.drain()
  await until(() => held.length === 16, 'sixteen are on their way')
  const postponed = () => sql`select 1 from jobs where name = 'webhooks.send' and run_at > now()`
  await until(async () => (await postponed()).length === 1, 'the other hook comes again later')
  expect(most).toBe(16)
  const release = () => {
    for (const response of held.splice(0)) response.end('ok')
  }
  sink.answer((response) => {
    held.push(response)
    most = Math.max(most, held.length)
    setImmediate(release)
  })
  release()
  await draining
  while (sink.received.length < 40) {
    await sql`update jobs set run_at = now() where name = 'webhooks.send'`
    await service.drain()
  }
  expect(most).toBe(16)

  const [hook = ''] = hooks
  most = 0
  await fill(hook, 5)
  await sql`update hooks set failing_since = now()`
  sink.answer((response) => {
    held.push(response)
    most = Math.max(most, held.length)
    setImmediate(() => {
      for (const one of held.splice(0)) one.writeHead(503).end()
    })
  })
  await service.drain()
  expect([sink.received.length, most]).toEqual([45, 1])
})
