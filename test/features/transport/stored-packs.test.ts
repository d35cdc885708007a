import { afterAll, beforeAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { chmod, readdir, readlink, truncate } from 'node:fs/promises'
import { connect } from 'node:net'
import { DELIMITER, encodePacket, FLUSH } from '../../../src/git/packet.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { commit, type Hosted, hostRepository, workTree } from './hosted.ts'

/** More than lies between a server and a client that reads nothing: Linux holds 4 MB for one and as little for the other. */
const BYTES = 32_000_000

let service: TestService
let owner: TestUser
let stranger: TestUser
let repo: Hosted
let head: string

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  stranger = await service.createUser()
  repo = await hostRepository(service, owner, { isPrivate: true })
  const cwd = await workTree(service.git)
  const files = Array.from({ length: 500 }, (_, part) => [
    `part${part}`,
    crypto.getRandomValues(new Uint8Array(65_000)),
  ])
  head = await commit(service.git, cwd, Object.fromEntries(files))
  await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })
})
afterAll(() => service.stop())

const headersOf = (user?: TestUser): Record<string, string> => ({
  'content-type': 'application/x-git-upload-pack-request',
  'git-protocol': 'version=2',
  ...(user && { authorization: `Basic ${btoa(`${user.name}:${user.token}`)}` }),
})

const question = () =>
  Buffer.concat([
    ...[encodePacket('command=fetch'), DELIMITER, encodePacket('ofs-delta'), encodePacket('no-progress')],
    ...[encodePacket(`want ${head}\n`), encodePacket('done\n'), FLUSH],
  ])

const cloneOf = (user?: TestUser, signal?: AbortSignal) =>
  fetch(`${repo.url}/git-upload-pack`, {
    method: 'POST',
    headers: headersOf(user),
    body: question(),
    ...(signal && { signal }),
  })

/** A client that has read the beginning of an answer and waits. `rest` is the end of it. */
async function beginClone(user: TestUser): Promise<{ rest(): Promise<string> }> {
  const { hostname, port, pathname } = new URL(`${repo.url}/git-upload-pack`)
  const fields = Object.entries({ host: hostname, 'content-length': question().length, ...headersOf(user) })
  const socket = connect(Number(port), hostname)
  socket.write(`POST ${pathname} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  socket.write(question())
  await once(socket, 'readable')
  const first = String(socket.read())
  expect(first).toStartWith('HTTP/1.1 200 ')
  return {
    async rest() {
      let last = Buffer.alloc(0)
      socket.on('error', () => undefined)
      socket.on('data', (bytes: Buffer) => {
        last = Buffer.concat([last, bytes]).subarray(-20)
      })
      await new Promise((resolve) => void socket.once('close', resolve))
      return last.toString('latin1')
    },
  }
}

/** Packs that this process, which is the service, has open. */
async function openPacks(): Promise<string[]> {
  const names = await readdir('/proc/self/fd')
  const links = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return links.filter((link) => link.includes(`/${repo.id}.git/`) && link.endsWith('.pack'))
}

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
  while ((await openPacks()).length > 0) await Bun.sleep(2)
  expect((await cloneOf(owner)).status).toBe(200)
})

test('what ends too early is broken off, and is no whole answer', async () => {
  expect(await (await beginClone(owner)).rest()).toEndWith('0000\r\n0\r\n\r\n')
  const client = await beginClone(owner)
  const [path = ''] = await openPacks()
  // The same file: what is read next is not there any more.
  await chmod(path, 0o600)
  await truncate(path, 100_000)
  expect(await client.rest()).not.toEndWith('0\r\n\r\n')
  while ((await openPacks()).length > 0) await Bun.sleep(2)
})
