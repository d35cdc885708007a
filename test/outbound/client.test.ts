import { afterEach, expect, mock, spyOn, test } from 'bun:test'
import dns from 'node:dns'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { readHostPolicy } from '../../src/kernel/host-policy.ts'
import { createOutbound } from '../../src/outbound/client.ts'
import type { OutboundRequest } from '../../src/outbound/follow.ts'
import { OutboundError } from '../../src/outbound/outbound-error.ts'
import { listen } from '../harness/listen.ts'

const limits = { connectMs: 2000, firstByteMs: 300, wholeMs: 900, maxBodyBytes: 1000, maxRedirects: 3 }
const generous = { connectMs: 10_000, firstByteMs: 10_000, wholeMs: 20_000, maxBodyBytes: 1000, maxRedirects: 3 }
const opened: { close(): void }[] = []
const sockets = new Set<Socket>()

afterEach(() => {
  mock.restore()
  for (const server of opened.splice(0)) server.close()
  for (const socket of sockets) socket.destroy()
  sockets.clear()
})

interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

/** A receiver that notes what it is sent. */
async function receive(answer: (response: ServerResponse, seen: Seen) => void) {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
      seen.push(one)
      answer(response, one)
    })
  })
  return { port: await open(server), seen }
}

/** A receiver below HTTP. */
async function raw(take: (socket: Socket) => void) {
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    take(socket)
  })
  return open(server)
}

function open(server: Server): Promise<number> {
  opened.push(server)
  return listen(server)
}

const request = (url: string, change: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer secret', 'x-gitea-event': 'push' },
  secretHeaders: new Set(['authorization']),
  body: '{"a":1}',
  ...change,
})

const never = new AbortController().signal

function send(url: string, { words = ['loopback'], within = generous, proxy = undefined as string | undefined } = {}) {
  return createOutbound({ hosts: readHostPolicy(words), limits: within, proxy }).send(request(url), never)
}

async function problemOf(sent: Promise<unknown>): Promise<string> {
  try {
    await sent
    return 'none'
  } catch (error) {
    if (error instanceof OutboundError) return error.problem
    throw error
  }
}

test('a request arrives as it was made, and its answer comes back', async () => {
  const { port, seen } = await receive((response) => void response.writeHead(201, { 'x-a': 'b' }).end('thanks'))
  const answer = await send(`http://127.0.0.1:${port}/hook?x=1`)
  expect(answer).toMatchObject({ status: 201, body: 'thanks', isCut: false })
  expect(answer.headers['x-a']).toBe('b')
  expect(seen).toMatchObject([{ method: 'POST', url: '/hook?x=1', body: '{"a":1}' }])
  expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'content-length': '7' })
})

test('no inner address is connected to, however it is written', async () => {
  const { port, seen } = await receive((response) => void response.end())
  const hosts = [
    '127.0.0.1',
    'localhost',
    'LOCALHOST',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '0177.1',
    '0',
    '①②⑦.⓪.⓪.①',
    '%31%32%37.0.0.1',
    '127。0。0。1',
  ]
  const elsewhere = [
    ...['169.254.169.254', '10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '0.0.0.0', '224.0.0.1', '240.0.0.1'],
    ...['255.255.255.255', '192.0.2.1', '198.18.0.1', '[::]', '[fe80::1]', '[fc00::1]', '[ff02::1]', '[::127.0.0.1]'],
    ...['[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001::7f00:1]'],
    ...['[::ffff:0:127.0.0.1]', '[100::1]', '[2001:db8::1]', '[fec0::1]', '[5f00::1]', '127.0.0.1.'],
  ]
  for (const host of [...hosts, ...elsewhere])
    expect([host, await problemOf(send(`http://${host}:${port}/`, { words: ['external'] }))]).toEqual([host, 'refused'])
  expect(seen).toEqual([])
})

const METADATA = '169.254.169.254'

/** Lets names have these addresses, one list for each time that they are asked for. */
function resolveTo(...answers: string[][]) {
  const fake = (_name: string, ...rest: unknown[]): void => {
    const answer = rest.at(-1)
    const found = (answers.shift() ?? []).map((address) => ({ address, family: 4 }))
    if (typeof answer === 'function') answer(null, found)
  }
  const { __promisify__ } = dns.lookup
  return spyOn(dns, 'lookup').mockImplementation(Object.assign(fake, { __promisify__ }))
}

test('a name that changes its mind is asked once, and again after a redirect', async () => {
  const { port, seen } = await receive((response, { url }) => {
    if (url === '/away') return void response.writeHead(307, { location: '/inside' }).end()
    return void response.end('here')
  })
  const turns = [['127.0.0.1'], [METADATA], [METADATA], ['127.0.0.1'], ['127.0.0.1'], [METADATA]]
  const lookup = resolveTo(...turns)
  expect((await send(`http://name.example:${port}/`)).body).toBe('here')
  expect(lookup).toHaveBeenCalledTimes(1)
  for (const _ of turns.slice(1, 3)) expect(await problemOf(send(`http://name.example:${port}/`))).toBe('refused')
  expect((await send(`http://name.example:${port}/`)).body).toBe('here')
  expect(await problemOf(send(`http://name.example:${port}/away`))).toBe('refused')
  expect(lookup).toHaveBeenCalledTimes(turns.length)
  expect(seen.map(({ url }) => url)).toEqual(['/', '/', '/away'])
})

test('of several addresses of a name only those that are allowed are connected to', async () => {
  const { port, seen } = await receive((response) => void response.end('here'))
  // At the same port of an address that is not allowed.
  let connections = 0
  const inner = createSocketServer((socket) => {
    connections += 1
    socket.destroy()
  })
  opened.push(inner)
  await new Promise<void>((resolve) => void inner.listen(port, '127.0.0.2', resolve))
  resolveTo(...Array.from({ length: 5 }, () => ['127.0.0.2', '127.0.0.1']))
  for (let turn = 0; turn < 5; turn++)
    expect((await send(`http://name.example:${port}/`, { words: ['127.0.0.1'] })).body).toBe('here')
  expect([seen.length, connections]).toEqual([5, 0])
})

test.each(['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'])(
  '%s in the environment leads no request away',
  async (name) => {
    const { port } = await receive((response) => void response.end('here'))
    const other = await receive((response) => void response.end('elsewhere'))
    process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${other.port}`
    try {
      expect((await send(`http://127.0.0.1:${port}/`)).body).toBe('here')
      expect((await send(`http://localhost:${port}/`)).body).toBe('here')
    } finally {
      delete process.env[name]
    }
    expect(other.seen).toEqual([])
  },
)

test.each(['file:///etc/passwd', 'data:text/plain,x', 'ftp://127.0.0.1/', 'blob:x', 'gopher://127.0.0.1', 'nonsense'])(
  '%s is not asked',
  async (url) => {
    expect(await problemOf(send(url, { words: ['*'] }))).toBe('refused')
  },
)

test('a redirect repeats the request, with what is secret on its own origin only', async () => {
  const other = await receive((response) => void response.end('other'))
  const { port, seen } = await receive((response, { url }) => {
    if (url === '/same') return void response.writeHead(307, { location: '/end' }).end()
    if (url === '/away') return void response.writeHead(308, { location: `http://127.0.0.1:${other.port}/` }).end()
    return void response.end('end')
  })
  expect((await send(`http://127.0.0.1:${port}/same`)).body).toBe('end')
  expect(seen[1]).toMatchObject({ method: 'POST', url: '/end', body: '{"a":1}' })
  expect(seen[1]?.headers.authorization).toBe('Bearer secret')
  expect((await send(`http://127.0.0.1:${port}/away`)).body).toBe('other')
  expect(other.seen[0]).toMatchObject({ method: 'POST', body: '{"a":1}' })
  expect(other.seen[0]?.headers.authorization).toBeUndefined()
  expect(other.seen[0]?.headers['x-gitea-event']).toBe('push')
})

test.each([
  ['http://169.254.169.254/latest/meta-data', 'refused'],
  ['http://[::ffff:a9fe:a9fe]/', 'refused'],
  ['file:///etc/passwd', 'refused'],
  ['/again', 'redirect'],
])('a redirect to %s ends there', async (location, fault) => {
  const { port, seen } = await receive((response) => void response.writeHead(302, { location }).end())
  expect(await problemOf(send(`http://127.0.0.1:${port}/`))).toBe(fault)
  expect(seen.length).toBe(location === '/again' ? 4 : 1)
})

test('a packed answer is not unpacked: what is read of it is what came', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  const { port } = await receive((response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(bomb)
  })
  const answer = await send(`http://127.0.0.1:${port}/`)
  expect(answer.isCut).toBe(true)
  expect(answer.body.length).toBeLessThanOrEqual(1000)
  expect(answer.body).not.toMatch(/^\0+$/)
})

test('a head of megabytes is not kept', async () => {
  const port = await raw((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\n')
      for (let line = 0; line < 2500; line++) socket.write(`x-${line}: ${'y'.repeat(4000)}\r\n`)
      socket.end('\r\nlate')
    })
  })
  expect(await problemOf(send(`http://127.0.0.1:${port}/`))).toBe('broken')
})

test('a header that cannot be written is refused, and no other is sent', async () => {
  const { port, seen } = await receive((response) => void response.end())
  const outbound = createOutbound({ hosts: readHostPolicy(['loopback']), limits: generous })
  for (const authorization of ['Bearer \u2603', 'a\r\nx-b: c', 'a\0'])
    expect(
      await problemOf(outbound.send(request(`http://127.0.0.1:${port}/`, { headers: { authorization } }), never)),
    ).toBe('refused')
  expect(seen).toEqual([])
})

test('303 and 304 are answers: the request is not repeated as another', async () => {
  const { port, seen } = await receive((response) => void response.writeHead(303, { location: '/x' }).end())
  expect((await send(`http://127.0.0.1:${port}/`)).status).toBe(303)
  expect(seen.length).toBe(1)
})

test('a receiver that is silent, trickles or never ends its head is given up', async () => {
  const silent = await raw(() => undefined)
  expect(await problemOf(send(`http://127.0.0.1:${silent}/`, { within: limits }))).toBe('timeout')
  const trickling = await raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    const timer = setInterval(() => socket.write('.'), 20)
    socket.on('close', () => clearInterval(timer))
  })
  expect(await problemOf(send(`http://127.0.0.1:${trickling}/`, { within: limits }))).toBe('timeout')
  const endless = await raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write(`x-${crypto.randomUUID()}: ${'y'.repeat(4000)}\r\n`), 1)
    socket.on('close', () => clearInterval(timer))
  })
  expect(['timeout', 'broken']).toContain(await problemOf(send(`http://127.0.0.1:${endless}/`, { within: limits })))
})

test('of a large answer only the beginning is read, and the connection ends', async () => {
  let closed: () => void = () => undefined
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve
  })
  const port = await raw((socket) => {
    socket.on('close', closed)
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n')
    const more = () => {
      while (!socket.destroyed && socket.write('x'.repeat(65_536)));
    }
    socket.on('drain', more)
    more()
  })
  const answer = await send(`http://127.0.0.1:${port}/`)
  expect([answer.body.length, answer.isCut]).toEqual([1000, true])
  await isClosed
})

test.each([
  ['before its answer', ''],
  ['in the middle of the head', 'HTTP/1.1 200 OK\r\nx-'],
  ['in the middle of the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
  ['after something that is no HTTP', 'SSH-2.0-x\r\n'],
])('a receiver that ends the connection %s is told as broken', async (_, text) => {
  const port = await raw((socket) => void socket.once('data', () => void socket.end(text)))
  expect(await problemOf(send(`http://127.0.0.1:${port}/`))).toBe('broken')
})

test('a refused connection and a name without address are told apart', async () => {
  const server = createServer()
  const port = await open(server)
  await new Promise((resolve) => server.close(resolve))
  expect(await problemOf(send(`http://127.0.0.1:${port}/`))).toBe('connect')
  expect(await problemOf(send('http://no-such-host.invalid/', { words: ['*'] }))).toBe('lookup')
})

test('a certificate that nobody vouches for is not accepted', async () => {
  const words = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=localhost',
  ]
  const made = Bun.spawnSync(['openssl', ...words, '-days', '1', '-keyout', '-', '-out', '-'], { stderr: 'ignore' })
  const pem = made.stdout.toString()
  const server = createTlsServer({ key: pem, cert: pem }, (_, response) => void response.end('in'))
  const port = await open(server)
  expect(await problemOf(send(`https://localhost:${port}/`))).toBe('tls')
})

test('through a proxy the address is judged here, and the proxy is given no name to resolve', async () => {
  const { port, seen } = await receive((response) => void response.end('through'))
  const targets: string[] = []
  const proxy = createServer().on('connect', (asked: IncomingMessage, socket: Socket) => {
    targets.push(asked.url ?? '')
    const [host = '', targetPort] = (asked.url ?? '').split(':')
    const beyond = connect(Number(targetPort), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(beyond).pipe(socket)
    })
    sockets.add(beyond)
  })
  const address = `http://127.0.0.1:${await open(proxy)}`
  const answer = await send(`http://localhost:${port}/`, { words: ['loopback'], proxy: address })
  expect(answer.body).toBe('through')
  expect(seen[0]?.headers.host).toBe(`localhost:${port}`)
  expect(targets.map((target) => target.split(':')[0])).toEqual(['127.0.0.1'])
  expect(await problemOf(send(`http://localhost:${port}/`, { words: ['external'], proxy: address }))).toBe('refused')
  expect(targets.length).toBe(1)
})

test('who asks may stop', async () => {
  const port = await raw(() => undefined)
  const stop = new AbortController()
  const outbound = createOutbound({ hosts: readHostPolicy(['loopback']), limits: generous })
  const sent = outbound.send(request(`http://127.0.0.1:${port}/`), stop.signal)
  stop.abort()
  await expect(sent).rejects.toThrow('aborted')
})
