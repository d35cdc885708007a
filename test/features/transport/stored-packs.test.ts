import { afterAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { chmod, truncate } from 'node:fs/promises'
import { connect } from 'node:net'
import { openPacks } from '../../harness/open-packs.ts'
import type { TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { cloneRequest, openPrivateStage } from './private-stage.ts'

/** More than lies between a server and a client that reads nothing: Linux holds 4 MB for one and as little for the other. */
const BYTES = 32_000_000

const files = Array.from({ length: 500 }, (_, part) => [`part${part}`, crypto.getRandomValues(new Uint8Array(65_000))])
const { service, owner, stranger, repo, head } = await openPrivateStage(Object.fromEntries(files))
afterAll(() => service.stop())

const request = (user?: TestUser) => cloneRequest(head, ['ofs-delta', 'no-progress'], user)

const cloneOf = (user?: TestUser, signal?: AbortSignal) =>
  fetch(`${repo.url}/git-upload-pack`, { method: 'POST', ...request(user), ...(signal && { signal }) })

/** A client that has read the beginning of an answer and waits. `rest` is the end of it. */
async function beginClone(user: TestUser): Promise<{ rest(): Promise<string> }> {
  const { hostname, port, pathname } = new URL(`${repo.url}/git-upload-pack`)
  const { headers, body } = request(user)
  const fields = Object.entries({ host: hostname, 'content-length': body.length, ...headers })
  const socket = connect(Number(port), hostname)
  // From the beginning: the server may break off before anybody asks for the rest.
  const closed = new Promise((resolve) => void socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.write(`POST ${pathname} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  socket.write(body)
  await once(socket, 'readable')
  const first = String(socket.read())
  expect(first).toStartWith('HTTP/1.1 200 ')
  return {
    async rest() {
      let last = Buffer.alloc(0)
      socket.on('data', (bytes: Buffer) => {
        last = Buffer.concat([last, bytes]).subarray(-20)
      })
      await closed
      return last.toString('latin1')
    },
  }
}

const open = () => openPacks(`/${repo.id}.git/`)
const untilClosed = () => until(async () => (await open()).length === 0, 'no pack is open')

test('who may read is sent what lies on the disk, at whatever pace, and nobody else', async () => {
  const sent = await cloneOf(owner)
  expect(sent.headers.get('content-type')).toBe('application/x-git-upload-pack-result')
  expect(sent.headers.get('cache-control')).toStartWith('no-cache')
  const whole = await sent.bytes()
  expect(whole.length).toBeGreaterThan(BYTES)
  const chunks: Uint8Array[] = []
  for await (const chunk of (await cloneOf(owner)).body ?? []) {
    chunks.push(chunk)
    if (chunks.length % 10 === 0) await Bun.sleep(1)
  }
  expect(Buffer.concat(chunks).equals(whole)).toBe(true)
  expect([(await cloneOf()).status, (await cloneOf(stranger)).status]).toEqual([401, 404])
})

test('who goes away leaves no file open', async () => {
  for (const pieces of [0, 1, 3]) {
    const gone = new AbortController()
    const reader = (await cloneOf(owner, gone.signal)).body?.getReader()
    for (let piece = 0; piece < pieces; piece++) await reader?.read()
    gone.abort()
  }
  await untilClosed()
  expect((await (await cloneOf(owner)).bytes()).length).toBeGreaterThan(BYTES)
})

test('what ends too early is broken off, and is no whole answer', async () => {
  expect(await (await beginClone(owner)).rest()).toEndWith('0000\r\n0\r\n\r\n')
  const client = await beginClone(owner)
  const [path = ''] = await open()
  // The same file: what is read next is not there any more.
  await chmod(path, 0o600)
  await truncate(path, 100_000)
  expect(await client.rest()).not.toEndWith('0\r\n\r\n')
  await untilClosed()
})
