import { afterEach, expect, test } from 'bun:test'
import { createServer, type RequestListener, type Server } from 'node:http'
import { readHostPolicy } from '../../src/kernel/host-policy.ts'
import { openDownload } from '../../src/outbound/download.ts'
import { OutboundError } from '../../src/outbound/outbound-error.ts'
import { listen } from '../harness/listen.ts'

const limits = { connectMs: 10_000, firstByteMs: 10_000, maxRedirects: 3, wholeMs: 60_000, paceSeconds: 30 }
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  return `http://127.0.0.1:${await listen(server)}`
}

const never = new AbortController().signal
const open = (url: string, { words = ['loopback'], within = limits, signal = never } = {}) =>
  openDownload(
    { hosts: readHostPolicy(words), limits: within },
    { url, method: 'GET', headers: { authorization: 'secret' }, secretHeaders: new Set(['authorization']) },
    signal,
  )

async function faultOf(sent: Promise<unknown>): Promise<string> {
  try {
    await sent
    return 'none'
  } catch (error) {
    if (error instanceof OutboundError) return error.problem
    throw error
  }
}
const bytesOf = async (...given: Parameters<typeof open>) => {
  const { content } = await open(...given)
  let size = 0
  for await (const chunk of content) size += chunk.length
  return size
}

test('a file comes whole, and what is secret goes to its own origin only', async () => {
  const asked: (string | undefined)[] = []
  const end = await serve((request, response) => {
    asked.push(request.headers.authorization)
    response.end(Buffer.alloc(3_000_000, 'x'))
  })
  const first = await serve((request, response) => {
    asked.push(request.headers.authorization)
    response.writeHead(302, { location: `${end}/file` }).end()
  })
  expect(await bytesOf(`${first}/file`)).toBe(3_000_000)
  expect(asked).toEqual(['secret', undefined])
})

test('the status is told, and what is left of the answer is not waited for', async () => {
  const closed = Promise.withResolvers<void>()
  const url = await serve((_, response) => {
    response.on('close', closed.resolve)
    response.writeHead(404).write('an answer without an end')
  })
  const { status, content } = await open(url)
  expect(status).toBe(404)
  await content.cancel()
  await closed.promise
})

test('no inner address is reached, also not by a redirect', async () => {
  expect(await faultOf(open('http://127.0.0.1:9/', { words: ['external'] }))).toBe('refused')
  const url = await serve((_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end())
  expect(await faultOf(open(url))).toBe('refused')
})

test.each([
  ['with a length', { 'content-length': '1000000' }],
  ['in chunks', {}],
])('an answer %s that is cut off is no file', async (_, headers) => {
  const url = await serve((_request, response) => {
    response.writeHead(200, headers)
    response.write(Buffer.alloc(50_000), () => response.destroy())
  })
  expect(await faultOf(bytesOf(url))).toBe('broken')
})

test('a server that is too slow, or takes too long altogether, is left', async () => {
  let isDripping = false
  const url = await serve((_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'), isDripping ? 20 : 1_000_000)
    response.write('x')
    response.on('close', () => clearInterval(timer))
  })
  expect(await faultOf(bytesOf(url, { within: { ...limits, paceSeconds: 0.2 } }))).toBe('timeout')
  isDripping = true
  expect(await faultOf(bytesOf(url, { within: { ...limits, paceSeconds: 0.3 } }))).toBe('timeout')
  expect(await faultOf(bytesOf(url, { within: { ...limits, wholeMs: 500 } }))).toBe('timeout')
})

test('who asks can stop', async () => {
  const stop = new AbortController()
  const url = await serve((_, response) => void response.writeHead(200).write('x'))
  const { content } = await open(url, { signal: stop.signal })
  const reader = content.getReader()
  await reader.read()
  stop.abort(new Error('stopped'))
  await expect(reader.read()).rejects.toThrow('stopped')
})

test('no more is asked for than is read', async () => {
  let sent = 0
  const url = await serve((_, response) => {
    const more = () => {
      while (sent < 1024) {
        sent += 1
        if (!response.write(Buffer.alloc(1024 * 1024))) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  })
  const { content } = await open(url)
  const reader = content.getReader()
  let read = 0
  while (read < 20 * 1024 * 1024) read += (await reader.read()).value?.length ?? 0
  // What is on its way lies in buffers of the two sockets.
  expect(sent).toBeLessThan(200)
  await reader.cancel()
})
