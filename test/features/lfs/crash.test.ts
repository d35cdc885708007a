import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash, randomFillSync } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { type Replica, startReplica } from '../transport/replica.ts'
import { basicOf, content, lfsClient, lfsOf, nameOf, storedKeys, uploaded } from './stage.ts'

/** More by hand: `LARGE_MIB=1024 bun test ...`. */
const MIB = Number(process.env.LARGE_MIB ?? 200)
const CHUNK_BYTES = 1024 * 1024
/** Buffers that wait to be collected come to about 100 MiB, whatever the size. */
const MAX_GROWTH = 150 * CHUNK_BYTES

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser('owner')
  await service.createRepository(owner, { name: 'big' })
})
afterAll(() => service.stop())

const at = (replica: Replica) => lfsClient(replica.url, 'owner/big', basicOf(owner))

const noise = randomFillSync(Buffer.alloc(CHUNK_BYTES))
/** The same each time, and no two chunks alike. */
function chunkAt(index: number): Uint8Array<ArrayBuffer> {
  const chunk = new Uint8Array(noise)
  new DataView(chunk.buffer).setUint32(0, index)
  return chunk
}

/** Chunks of a file, made when they are asked for. */
function chunks(count: number, before: (index: number) => Promise<unknown> = async () => undefined) {
  let index = 0
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        if (index === count) return controller.close()
        await before(index)
        controller.enqueue(chunkAt(index++))
      },
    },
    { highWaterMark: 0 },
  )
}

function nameOfChunks(count: number) {
  const hash = createHash('sha256')
  for (let index = 0; index < count; index++) hash.update(chunkAt(index))
  return { oid: hash.digest('hex'), size: count * CHUNK_BYTES }
}

const put = (replica: Replica, { oid, size }: { oid: string; size: number }, body: ReadableStream) =>
  fetch(`${at(replica).root}/objects/${oid}/${size}`, { method: 'PUT', headers: basicOf(owner), body })

test(`${MIB} MiB go in and out while the server's memory stays where it was`, async () => {
  const replica = await startReplica(service)
  await uploaded(at(replica))
  const named = nameOfChunks(MIB)
  const before = replica.memory().peak
  expect((await put(replica, named, chunks(MIB))).status).toBe(200)
  const sent = replica.memory().peak
  const answer = await fetch(`${at(replica).root}/objects/${named.oid}`)
  const hash = createHash('sha256')
  if (answer.body) for await (const chunk of answer.body) hash.update(chunk)
  const read = replica.memory().peak
  console.info(`peak MiB: ${[before, sent, read].map((bytes) => Math.round(bytes / 1024 / 1024)).join(', ')}`)
  expect(hash.digest('hex')).toBe(named.oid)
  expect(sent - before).toBeLessThan(MAX_GROWTH)
  expect(read - before).toBeLessThan(MAX_GROWTH)
  await replica.stop()
}, 600_000)

test('of an upload that a crash has cut short nothing is seen, and the next one is whole', async () => {
  const uploads = join(service.context.config.objectsDir, '.uploads')
  const keys = await storedKeys(service)
  const replica = await startReplica(service)
  const named = nameOfChunks(8)
  const never = Promise.withResolvers<void>()
  const sending = put(
    replica,
    named,
    chunks(8, async (index) => index === 6 && never.promise),
  ).catch(() => undefined)
  const sizes = () => readdirSync(uploads).map((name) => statSync(join(uploads, name)).size)
  await until(() => sizes().some((size) => size >= 4 * CHUNK_BYTES), 'a part has come')
  await replica.kill()
  never.resolve()
  await sending
  const client = lfsOf(service, 'owner/big', owner)
  expect(await storedKeys(service)).toEqual(keys)
  expect((await client.get(named)).status).toBe(404)
  expect(Object.keys((await client.one('upload', named)).actions ?? {})).toEqual(['upload', 'verify'])
  const again = await startReplica(service)
  expect((await put(again, named, chunks(8))).status).toBe(200)
  expect((await client.one('download', named)).error).toBeUndefined()
  await again.stop()
})

test('what was acknowledged before a crash is there after it, and nothing else is half there', async () => {
  const replica = await startReplica(service)
  const acknowledged: { oid: string; size: number }[] = []
  const tried: { oid: string; size: number }[] = []
  const send = async () => {
    for (;;) {
      const named = content('z'.repeat(50_000) + crypto.randomUUID())
      tried.push(nameOf(named))
      const answer = await at(replica)
        .put(named)
        .catch(() => undefined)
      if (answer?.status !== 200) return
      acknowledged.push(nameOf(named))
    }
  }
  const senders = Promise.all([send(), send(), send()])
  await until(() => acknowledged.length > 10, 'some are acknowledged')
  await replica.kill()
  await senders
  const client = lfsOf(service, 'owner/big', owner)
  for (const { oid } of acknowledged) {
    const { text } = await client.get({ oid })
    expect(createHash('sha256').update(text).digest('hex')).toBe(oid)
  }
  // The last of each may be there without its answer: then whole.
  for (const { oid } of tried) {
    const { status, text } = await client.get({ oid })
    if (status === 200) expect(createHash('sha256').update(text).digest('hex')).toBe(oid)
    else expect(status).toBe(404)
  }
})

test('an upload whose client goes away leaves nothing', async () => {
  const keys = await storedKeys(service)
  const uploads = join(service.context.config.objectsDir, '.uploads')
  const before = readdirSync(uploads).length
  const replica = await startReplica(service)
  const named = nameOfChunks(9)
  const away = new AbortController()
  const body = chunks(9, async (index) => {
    if (index === 5) away.abort()
  })
  const sending = fetch(`${at(replica).root}/objects/${named.oid}/${named.size}`, {
    method: 'PUT',
    headers: basicOf(owner),
    body,
    signal: away.signal,
  })
  expect(await sending.catch(() => 'gone')).toBe('gone')
  await until(() => readdirSync(uploads).length === before, 'what came is removed')
  expect(await storedKeys(service)).toEqual(keys)
  await replica.stop()
})
