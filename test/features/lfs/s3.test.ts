import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createHash, randomFillSync } from 'node:crypto'
import { type S3Server, startS3 } from '../../harness/s3.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { findFaults } from '../transport/twins.ts'
import {
  basicOf,
  type Content,
  content,
  type LfsClient,
  lfsOf,
  nameOf,
  pointerTo,
  storedKeys,
  uploaded,
} from './stage.ts'

const MIB = 1024 * 1024
const DAY_MS = 86_400_000
const clock = { time: Date.now(), now: () => new Date(clock.time) }

let s3: S3Server
let service: TestService
let owner: TestUser
let repo: TestRepository
let client: LfsClient
/** What the bucket has, and nothing else is left of anything. */
let before: string[]
beforeAll(async () => {
  s3 = startS3()
  service = await startTestService({ clock, settings: { ...s3.settings, LFS_UNUSED_DAYS: '10' } })
  owner = await service.createUser('owner')
})
let repositories = 0
beforeEach(async () => {
  repositories += 1
  repo = await service.createRepository(owner, { name: `large${repositories}` })
  client = lfsOf(service, `owner/${repo.name}`, owner)
  before = await storedKeys(service)
})
afterEach(() => {
  s3.failWith = undefined
  expect(s3.openUploads()).toBe(0)
})
afterAll(async () => {
  await service.stop()
  await s3.stop()
})

/** Larger than a part of an upload. */
function large(bytes: number): Content {
  const noise = randomFillSync(new Uint8Array(bytes))
  return { oid: createHash('sha256').update(noise).digest('hex'), size: bytes, bytes: noise }
}
const inBucket = ({ oid }: Content) => [...s3.objects.keys()].filter((key) => key.includes(oid))

async function collect(): Promise<void> {
  expect((await service.admin.client.post('/admin/cron/gc_lfs')).status).toBe(204)
  await service.drain()
  expect([...(await service.context.sql`select * from cron_tasks where last_error <> ''`)]).toEqual([])
}

test.each([0, 1000, 12 * MIB + 1])(
  'an object of %d bytes is sent, verified and read, whole and in parts',
  async (size) => {
    const sent = await uploaded(client, large(size))
    expect(inBucket(sent)).toEqual([expect.stringMatching(/^hearth\/files\/lfs\/[0-9a-f]{2}\/[0-9a-f]{64}-[0-9a-f]+$/)])
    expect(await client.one('upload', nameOf(sent))).toEqual(nameOf(sent))
    expect((await client.post('/verify', { ...nameOf(sent), size: size + 1 })).status).toBe(400)
    const { href = '', header } = (await client.one('download', nameOf(sent))).actions?.download ?? {}
    const read = (headers: Record<string, string> = {}, method = 'GET') =>
      fetch(href, { method, headers: { ...header, ...headers } })
    const whole = await read()
    expect(Buffer.compare(await whole.bytes(), sent.bytes)).toBe(0)
    expect(whole.headers.get('content-length')).toBe(String(size))
    expect((await read({}, 'HEAD')).headers.get('content-length')).toBe(String(size))
    expect((await read({ 'if-none-match': whole.headers.get('etag') ?? '' })).status).toBe(304)
    expect((await read({ range: `bytes=${size}-` })).status).toBe(416)
    if (size === 0) return
    // As git-lfs goes on with what was broken off.
    const rest = await read({ range: `bytes=${size - 700}-` })
    expect([rest.status, rest.headers.get('content-range')]).toEqual([206, `bytes ${size - 700}-${size - 1}/${size}`])
    expect(Buffer.compare(await rest.bytes(), sent.bytes.subarray(-700))).toBe(0)
    const part = await read({ range: 'bytes=10-19' })
    expect(Buffer.compare(await part.bytes(), sent.bytes.subarray(10, 20))).toBe(0)
  },
)

test.each<[string, (named: Content) => [Uint8Array<ArrayBuffer>, number]]>([
  ['other bytes', ({ size }) => [new Uint8Array(size), size]],
  ['fewer bytes', ({ bytes, size }) => [bytes.slice(0, -1), size]],
  ['more bytes', ({ bytes, size }) => [new Uint8Array(Buffer.concat([bytes, bytes])), size]],
])('%s than the name says are refused, and nothing is left of them', async (_, lie) => {
  for (const named of [content(), large(11 * MIB)]) {
    const [bytes, size] = lie(named)
    expect((await client.put(named, bytes, size)).status).toBe(400)
    expect((await client.get(named)).status).toBe(404)
    expect(inBucket(named)).toEqual([])
  }
})

test('a client that goes away in the middle of a part leaves nothing', async () => {
  const named = large(30 * MIB)
  const leaving = new AbortController()
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      // The end never comes.
      if (at >= named.size - MIB) return new Promise(() => undefined)
      controller.enqueue(named.bytes.subarray(at, at + MIB))
      at += MIB
    },
  })
  const sending = fetch(`${client.root}/objects/${named.oid}/${named.size}`, {
    method: 'PUT',
    headers: basicOf(owner),
    body,
    signal: leaving.signal,
  }).catch(() => undefined)
  await until(async () => s3.openUploads() > 0, 'the first parts are in the bucket')
  leaving.abort()
  await sending
  await until(async () => s3.openUploads() === 0, 'the upload is ended in the bucket too')
  expect(await storedKeys(service)).toEqual(before)
  expect((await client.put(named)).status).toBe(200)
})

test('one content that five send at the same time lies there once', async () => {
  const sent = large(6 * MIB)
  const answers = await Promise.all(Array.from({ length: 5 }, () => client.put(sent)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(inBucket(sent)).toHaveLength(1)
  const whole = await fetch(`${client.root}/objects/${sent.oid}`, { headers: basicOf(owner) })
  expect(Buffer.compare(await whole.bytes(), sent.bytes)).toBe(0)
})

test('while the bucket is away uploads and downloads are 503, and go on when it is back', async () => {
  const [sent, waiting] = [await uploaded(client), content()]
  s3.failWith = new Response('<Error><Code>SlowDown</Code><Message>later</Message></Error>', { status: 503 })
  const refused = await client.put(waiting)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  expect((await client.get(sent)).status).toBe(503)
  // The database knows what there is.
  expect(await client.one('upload', nameOf(sent))).toEqual(nameOf(sent))
  expect((await client.post('/verify', nameOf(waiting))).status).toBe(404)
  s3.failWith = undefined
  expect((await client.get(sent)).status).toBe(200)
  await uploaded(client, waiting)
})

test('what nobody needs is removed from the bucket, also what an upload has left that did not end', async () => {
  const used = await uploaded(client)
  const file = { content: btoa(pointerTo(used)) }
  expect((await owner.client.post(`${repo.path}/contents/large.bin`, file)).status).toBe(201)
  const unused = await uploaded(client)
  const others = await Promise.all([1, 2, 3].map(() => uploaded(client)))
  const stray = content()
  const key = `lfs/${stray.oid.slice(0, 2)}/${stray.oid}-stray`
  await service.context.objects.put(key, new Blob([stray.bytes]).stream(), { maxBytes: 1000 })
  await collect()
  expect(inBucket(stray)).toHaveLength(1)
  clock.time += 5 * DAY_MS
  await collect()
  expect([inBucket(stray), inBucket(unused).length]).toEqual([[], 1])
  await Promise.all(others.map((one) => client.one('upload', nameOf(one))))
  clock.time += 6 * DAY_MS
  await collect()
  expect([inBucket(used).length, inBucket(unused).length]).toEqual([1, 0])
  for (const one of others) expect(inBucket(one)).toHaveLength(1)
  expect((await owner.client.delete(repo.path)).status).toBe(204)
  await collect()
  for (const one of [used, ...others]) expect(inBucket(one)).toEqual([])
})

test('while the bucket is away the clean-up fails, says so, and takes nothing that is needed', async () => {
  const [kept, unused] = [await uploaded(client), await uploaded(client)]
  expect((await owner.client.post(`${repo.path}/contents/a.bin`, { content: btoa(pointerTo(kept)) })).status).toBe(201)
  clock.time += 11 * DAY_MS
  s3.failWith = new Response('<Error><Code>SlowDown</Code><Message>later</Message></Error>', { status: 503 })
  expect((await service.admin.client.post('/admin/cron/gc_lfs')).status).toBe(204)
  await service.drain()
  const [row] = await service.context.sql`select last_error from cron_tasks where name = 'gc_lfs'`
  expect(row?.last_error).toContain('SlowDown')
  s3.failWith = undefined
  await collect()
  // Its row went first, so what is left of it is a file without a row.
  expect([inBucket(kept).length, (await client.get(unused)).status]).toEqual([1, 404])
  expect((await client.get(kept)).status).toBe(200)
  clock.time += 5 * DAY_MS
  await collect()
  expect(inBucket(unused)).toEqual([])
})

test('doctor finds a content that the bucket has lost, and readers are told', async () => {
  const sent = await uploaded(client)
  const [key = ''] = inBucket(sent)
  s3.objects.delete(key)
  const lost = (await findFaults(service)).filter(({ subject }) => subject.startsWith('Git LFS'))
  expect(lost).toHaveLength(1)
  expect((await client.get(sent)).status).toBe(410)
})
