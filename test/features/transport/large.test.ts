import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash, randomFillSync } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { hostRepository, workTree } from './hosted.ts'
import { type Replica, startReplica } from './replica.ts'

/** More by hand: `LARGE_MIB=500 bun test ...`. */
const MIB = Number(process.env.LARGE_MIB ?? 200)
/** Buffers that wait to be collected come to about 100 MiB, whatever the size. */
const MAX_GROWTH = 150 * 1024 * 1024

let service: TestService
let owner: TestUser
let replica: Replica
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  replica = await startReplica(service)
})
afterAll(async () => {
  await replica.stop()
  await service.stop()
})

/** A commit with one file of noise, which no compression makes smaller. Returns the digest of the file. */
async function noise(cwd: string): Promise<string> {
  const digest = createHash('sha256')
  const chunk = Buffer.alloc(1024 * 1024)
  for (let index = 0; index < MIB; index++) {
    randomFillSync(chunk)
    appendFileSync(join(cwd, 'noise.bin'), chunk)
    digest.update(chunk)
  }
  const fast = ['-c', 'core.compression=0', '-c', 'core.bigFileThreshold=1m']
  await service.git([...fast, 'add', '-A'], { cwd })
  await service.git(['commit', '-q', '-m', 'noise'], { cwd })
  return digest.digest('hex')
}

test(`${MIB} MiB go in and out while the server's memory stays where it was`, async () => {
  const repo = await hostRepository(service, owner)
  const url = repo.as(owner).replace(new URL(service.url).host, new URL(replica.url).host)
  const cwd = await workTree(service.git)
  await service.git(['push', '-q', url, 'main:warm'], { cwd })
  await service.git(['clone', '-q', url, 'warm'])
  const digest = await noise(cwd)
  const before = replica.memory().peak
  await service.git(['-c', 'pack.compression=0', 'push', '-q', url, 'main'], { cwd })
  const pushed = replica.memory().peak
  const folder = join(service.git.folder, 'large-clone')
  await service.git(['clone', '-q', '-b', 'main', url, folder])
  const cloned = replica.memory().peak
  console.info(`peak MiB: ${[before, pushed, cloned].map((bytes) => Math.round(bytes / 1024 / 1024)).join(', ')}`)
  expect(
    await Bun.file(join(folder, 'noise.bin'))
      .arrayBuffer()
      .then((bytes) => createHash('sha256').update(Buffer.from(bytes)).digest('hex')),
  ).toBe(digest)
  expect(pushed - before).toBeLessThan(MAX_GROWTH)
  expect(cloned - before).toBeLessThan(MAX_GROWTH)
}, 600_000)
