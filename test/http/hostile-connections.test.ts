import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Replica, startReplica } from '../features/transport/replica.ts'
import { attack } from '../harness/hostile-connections.ts'
import { startTestService, type TestService } from '../harness/service.ts'

/** A server in a process of its own: what is looked for ends the whole process. */
let service: TestService
let replica: Replica
let rawPath: string
beforeAll(async () => {
  service = await startTestService()
  const { path } = await service.createRepository(service.admin)
  const content = Buffer.alloc(3_000_000, 'hostile\n').toString('base64')
  await service.admin.client.post(`${path}/contents/large.txt`, { content })
  rawPath = `/api/v1${path}/raw/large.txt`
  replica = await startReplica(service)
})
afterAll(async () => {
  await replica.kill()
  await service.stop()
})

/** Another one with each run; `bun test/scripts/hostile.ts --seed` repeats it. */
const seed = Date.now() % 1_000_000

test(`a minute of random connections harms nobody (seed ${seed})`, async () => {
  expect((await fetch(`${replica.url}${rawPath}`)).status).toBe(200)
  // Its caches and buffers are filled first, so that what is measured is what stays.
  await attack({ url: replica.url, rawPath, seed, seconds: 15, width: 12 })
  const before = replica.memory().now
  const count = await attack({ url: replica.url, rawPath, seed: seed + 1, seconds: 45, width: 12 })
  expect(count).toBeGreaterThan(100)
  expect((await fetch(`${replica.url}/api/v1/version`)).status).toBe(200)
  expect((await fetch(`${replica.url}${rawPath}`)).status).toBe(200)
  expect(replica.memory().now).toBeLessThan(before + 100 * 2 ** 20)
}, 180_000)
