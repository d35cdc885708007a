import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { pushes } from '../../../db/schema/refs.ts'
import { repairPushes } from '../../../src/features/refs/repair.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { startReplica } from '../transport/replica.ts'
import { findFaults } from '../transport/twins.ts'
import { base64, folderIdOf } from './stage.ts'

/** More of them by hand: `CRASH_ROUNDS=100 bun test ...`. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3)
const REPOSITORIES = 6

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
})
afterAll(() => service.stop())

/** Creates pages in repositories in turn, until the server is gone. What was answered with 201 goes to `answered`. */
async function write(
  url: string,
  { repos, writer, answered }: { repos: TestRepository[]; writer: number; answered: [TestRepository, string][] },
): Promise<void> {
  for (let number = 0; ; number += 1) {
    const repo = repos[(number + writer) % repos.length]
    if (!repo) return
    const title = `Page ${writer} ${number}`
    try {
      const answer = await fetch(`${url}/api/v1${repo.path}/wiki/new`, {
        method: 'POST',
        headers: { authorization: `token ${owner.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ title, content_base64: base64(title) }),
      })
      await answer.arrayBuffer()
      if (answer.status !== 201) throw new Error(`answered with ${answer.status}`)
      answered.push([repo, title])
    } catch {
      return
    }
  }
}

test(
  'a server killed in the middle of first pages loses none that was answered, and leaves no folder behind',
  async () => {
    const { context } = service
    const longAfter = { now: () => new Date(context.clock.now().getTime() + 86_400_000) }
    for (let round = 0; round < ROUNDS; round += 1) {
      const repos = await Promise.all(Array.from({ length: REPOSITORIES }, () => service.createRepository(owner)))
      const replica = await startReplica(service)
      const answered: [TestRepository, string][] = []
      const writers = [0, 1, 2].map((writer) => write(replica.url, { repos, writer, answered }))
      await until(() => answered.length > 0, 'a page is made')
      await Bun.sleep(Math.random() * 150)
      await replica.kill()
      await Promise.all(writers)
      await until(async () => {
        const locks = await context.sql`
          select 1 from pg_locks where relation in ('wikis'::regclass, 'repository_reservations'::regclass) and pid <> pg_backend_pid()`
        return locks.length === 0
      }, 'the killed server leaves the database')
      await (await startReplica(service)).stop()
      for (const repo of repos) {
        const folderId = await folderIdOf(service, repo.id)
        if (folderId !== undefined)
          expect(await context.git.fsck(folderId, { isFull: true })).toEqual({ isSound: true, problems: [] })
        await repairPushes({ ...context, clock: longAfter }, new AbortController().signal)
        expect(await context.db.$count(pushes, eq(pushes.repositoryId, repo.id))).toBe(0)
        const again = await owner.client.post(`${repo.path}/wiki/new`, { title: 'Afterwards' })
        expect(again.status).toBe(201)
      }
      for (const [repo, title] of answered)
        expect((await owner.client.get(`${repo.path}/wiki/page/${encodeURIComponent(title)}`)).body).toMatchObject({
          content_base64: base64(title),
        })
    }
    expect(await findFaults(service)).toEqual([])
  },
  60_000 + ROUNDS * 15_000,
)
