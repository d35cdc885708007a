import { afterAll, beforeAll, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { encodePacket, FLUSH } from '../../../src/git/packet.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { type Hosted, hostRepository, workTree } from './hosted.ts'
import { type Replica, startReplica } from './replica.ts'

/** A server in a process of its own: what is looked for ended the whole process. */
let service: TestService
let replica: Replica
let owner: TestUser
let repo: Hosted
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  repo = await hostRepository(service, owner)
  replica = await startReplica(service)
})
afterAll(async () => {
  await replica.kill()
  await service.stop()
})

const LENGTH = 20_000_000
const head = Buffer.concat([
  encodePacket(`${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/x\0report-status side-band-64k`),
  FLUSH,
])

/** Without a length, and slowly enough that git has answered before the end. */
function trickle(body: Buffer): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream<Uint8Array>({
    async pull(out) {
      out.enqueue(body.subarray(at, at + 65_536))
      at += 65_536
      if (at % (16 * 65_536) === 0) await Bun.sleep(2)
      if (at >= body.length) out.close()
    },
  })
}

test.each([
  ['receive-pack', 'no pack', Buffer.concat([head, Buffer.alloc(LENGTH, 'a')]), false],
  ['receive-pack', 'an unknown version', Buffer.concat([head, Buffer.from('PACK'), Buffer.alloc(LENGTH, 7)]), false],
  ['receive-pack', 'a broken zip', Buffer.concat([gzipSync(head).subarray(0, 40), Buffer.alloc(LENGTH, 'a')]), true],
  ['upload-pack', 'no question', Buffer.alloc(15_000_000, 'a'), false],
  ['upload-pack', 'a broken zip', Buffer.concat([gzipSync(head).subarray(0, 40), Buffer.alloc(LENGTH, 'a')]), true],
] as const)(
  'the server outlives a %s with %s, which git ends before the client does',
  async (name, _, body, isZipped) => {
    const path = new URL(repo.url).pathname
    for (let turn = 0; turn < 8; turn += 1) {
      const response = await fetch(`${replica.url.replace(/\/$/, '')}${path}/git-${name}`, {
        method: 'POST',
        headers: {
          authorization: `token ${owner.token}`,
          'content-type': `application/x-git-${name}-request`,
          ...(isZipped && { 'content-encoding': 'gzip' }),
        },
        body: turn % 2 === 0 ? body : trickle(body),
      })
      await response.text().catch(() => 'broken off')
      expect((await fetch(`${replica.url}/api/v1/version`)).status).toBe(200)
    }
    const cwd = await workTree(service.git)
    const url = repo.as(owner).replace(new URL(service.url).host, new URL(replica.url).host)
    await service.git(['push', '-q', '--force', url, 'HEAD:main'], { cwd })
  },
)
