import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { storagePath } from '../../../src/git/storage.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { type Hosted, hostRepository } from './hosted.ts'
import { processesWith } from './replica.ts'

let service: TestService
let owner: TestUser
let repo: Hosted

beforeAll(async () => {
  // One place for transfers.
  service = await startTestService({ settings: { GIT_MAX_PROCESSES: '2' } })
  owner = await service.createUser()
  repo = await hostRepository(service, owner)
})
afterAll(() => service.stop())

test('a client beyond the queue is told to come again, and those in it are served', async () => {
  const client = new AbortController()
  const line = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/slow\0report-status`
  const head = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000PACK`
  const stalled = fetch(`${repo.url}/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: `token ${owner.token}`, 'content-type': 'application/x-git-receive-pack-request' },
    body: new ReadableStream<Uint8Array>({ start: (out) => out.enqueue(Buffer.from(head)) }),
    signal: client.signal,
  }).catch(() => undefined)
  const folder = join(service.context.config.repositoriesDir, storagePath(repo.id))
  await until(() => processesWith(`receive-pack --stateless-rpc ${folder}`).length > 0, 'the push holds the place')
  const asked = Array.from({ length: 230 }, () => fetch(`${repo.url}/info/refs?service=git-upload-pack`))
  const refused = await Promise.any(
    asked.map(async (answer) => {
      const { status, headers } = await answer
      if (status !== 503) throw new Error(`is ${status}`)
      return headers.get('retry-after')
    }),
  )
  expect(Number(refused)).toBeGreaterThan(0)
  client.abort()
  await stalled
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  // The queue holds 200, and one address may have half of it. One that comes late, when the place is free again, is
  // served as well.
  const served = statuses.filter((status) => status === 200).length
  expect(served).toBeGreaterThanOrEqual(100)
  expect(statuses.filter((status) => status === 503)).toHaveLength(230 - served)
})
