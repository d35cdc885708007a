import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { storagePath } from '../../../src/git/storage.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { processesWith, startReplica } from '../transport/replica.ts'
import { type OtherServer, startOtherServer } from './other-server.ts'

/** More of them by hand: `CRASH_ROUNDS=20 bun test ...`. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 1)
const SETTINGS = { MIGRATIONS_ALLOWED_HOSTS: 'loopback' }

let service: TestService
let other: OtherServer
let alice: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: SETTINGS })
  other = await startOtherServer(service.folder)
  alice = await service.createUser('alice')
})
afterAll(async () => {
  await other.stop()
  await service.stop()
})

/** Not those that wait for questions about objects. */
const working = (folder: string) =>
  ['fetch', 'update-ref'].flatMap((command) => processesWith(`${folder} ${command}`)).length

test(
  'a server killed in the middle of an update shows all of it or nothing, and the next one ends it',
  async () => {
    await other.create('origin')
    const body = { clone_addr: other.url('origin'), repo_name: 'copy', mirror: true }
    const id = (await alice.client.post('/repos/migrate', body)).number('id')
    await service.drain()
    const folder = join(service.context.config.repositoriesDir, storagePath(id))
    const copy = `${service.url}/alice/copy.git`
    const refs = () => service.git(['ls-remote', copy])
    const theirs = () => other.git(['ls-remote', other.url('origin')])
    for (let round = 0; round < ROUNDS; round++) {
      const before = await refs()
      for (const branch of ['main', 'topic', `new${round}`]) await other.commit('origin', branch)
      const after = await theirs()
      // The first kill comes while the pack is on its way, the others at any moment behind that.
      const isFetching = Promise.withResolvers<void>()
      const goOn = Promise.withResolvers<void>()
      other.answer = async (request) => {
        if (!(await request.clone().text()).includes('command=fetch')) return undefined
        isFetching.resolve()
        if (round === 0) await goOn.promise
        return undefined
      }
      const replica = await startReplica(service, SETTINGS)
      await alice.client.post('/repos/alice/copy/mirror-sync')
      await isFetching.promise
      await Bun.sleep(round === 0 ? 0 : Math.random() * 300)
      await replica.kill()
      goOn.resolve()
      other.answer = undefined
      await until(() => working(folder) === 0, 'git ends its work')
      expect([before, after]).toContain(await refs())
      const next = await startReplica(service, SETTINGS)
      const isWhole = async () => (await refs()) === after
      await until(isWhole, 'the update is made again', 60_000)
      const isRecorded = async () => {
        const [row] = await service.context
          .sql`select sha from refs where repository_id = ${id} and name = ${`new${round}`}`
        return row !== undefined && after.includes(row.sha)
      }
      await until(isRecorded, 'the rows follow', 60_000)
      await next.stop()
    }
    expect((await service.context.git.fsck(id, { isFull: true })).isSound).toBe(true)
  },
  60_000 + ROUNDS * 120_000,
)
