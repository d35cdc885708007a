import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { removeOrphanFolder, reserveRepositoryId } from '../../src/features/repository-creation/reservations.ts'
import { removeOrphanFolders } from '../../src/features/repository-maintenance/orphans.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { startReplica } from './transport/replica.ts'

/** More of them by hand: `CRASH_ROUNDS=200 CRASH_SEED=7 bun test ...`. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 8)
const SEED = Number(process.env.CRASH_SEED ?? 1)
const WRITERS = 4

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
})
afterAll(() => service.stop())

const never = new AbortController().signal

/** Numbers from 0 to 1 that are the same for the same seed (a linear congruential generator). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

async function storedIds(): Promise<number[]> {
  const ids: number[] = []
  for await (const id of service.context.git.listStoredIds()) ids.push(id)
  return ids.sort((a, b) => a - b)
}

async function rowIds(): Promise<number[]> {
  const rows = await service.context.sql<{ id: number }[]>`select id from repositories order by id`
  return rows.map(({ id }) => id)
}

function halfWay(): string[] {
  const root = service.context.config.repositoriesDir
  return readdirSync(root)
    .filter((name) => name === '@creating' || name === '@trash')
    .flatMap((name) => readdirSync(join(root, name)).map((entry) => `${name}/${entry}`))
}

/** Creates until the server is gone; names of what was answered with 201 go to `answered`. */
async function write(url: string, prefix: string, answered: string[]): Promise<string | undefined> {
  for (let number = 0; ; number += 1) {
    const name = `${prefix}-${number}`
    const body = { name, auto_init: true, license: 'MIT', gitignores: 'Go', issue_labels: 'Default' }
    try {
      const answer = await fetch(`${url}/api/v1/user/repos`, {
        method: 'POST',
        headers: { authorization: `token ${owner.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      await answer.arrayBuffer()
      if (answer.status !== 201) throw new Error(`answered with ${answer.status}`)
      answered.push(name)
    } catch {
      return name
    }
  }
}

/** On a busy machine the first creation may begin late: a kill before it would show nothing. */
const creationsBegun = () =>
  until(async () => (await service.context.sql`select 1 from repository_reservations`).length > 0, 'a creation begins')

/** What a killed server's connections held is given back a moment after it is gone. */
const connectionsEnded = () =>
  until(async () => {
    const locks = await service.context.sql`
      select 1 from pg_locks where relation = 'repository_reservations'::regclass and pid <> pg_backend_pid()`
    return locks.length === 0
  }, 'the killed server leaves the database')

/** Every row has a whole folder with its first commit, as its rows say, and every folder has a row. */
async function expectWhole(checked: Set<number>): Promise<void> {
  const { git, sql } = service.context
  expect(await sql`select id from repository_reservations`).toHaveLength(0)
  expect(halfWay()).toEqual([])
  const ids = await rowIds()
  expect(await storedIds()).toEqual(ids)
  for (const id of ids.filter((one) => !checked.has(one))) {
    expect(await git.fsck(id, { isFull: true })).toEqual({ isSound: true, problems: [] })
    const [row] = await sql`
      select is_empty, branch_count, watchers_count, (select count(*)::int from labels where labels.repository_id = ${id}) as labels,
        (select sha from refs where refs.repository_id = ${id} and name = 'main') as sha
      from repositories join repository_counters on repository_id = id where id = ${id}`
    const { sha } = await git.readCommit(id, 'main')
    expect(row).toEqual({ is_empty: false, branch_count: 1, watchers_count: 1, labels: 7, sha })
    checked.add(id)
  }
}

test(
  `a server killed in the middle of creations leaves no ghost and no folder (${ROUNDS} rounds, seed ${SEED})`,
  async () => {
    const random = randomFrom(SEED)
    const checked = new Set<number>()
    let interrupted = 0
    let orphans = 0
    let replica = await startReplica(service)
    for (let round = 0; round < ROUNDS; round++) {
      const answered: string[] = []
      const writers = Array.from({ length: WRITERS }, (_, index) => write(replica.url, `r${round}-${index}`, answered))
      await creationsBegun()
      // The kill comes at any moment of them.
      await Bun.sleep(random() * 500)
      await replica.kill()
      const open = (await Promise.all(writers)).filter((name) => name !== undefined)
      await connectionsEnded()
      orphans += (await service.context.sql`select id from repository_reservations`).length
      replica = await startReplica(service)
      await expectWhole(checked)
      for (const name of answered)
        expect((await owner.client.get(`/repos/${owner.name}/${name}`)).body).toMatchObject({ name, empty: false })
      for (const name of open) {
        // Not answered: either it came to be, whole, or the name is free.
        const again = await owner.client.post('/user/repos', { name, auto_init: true, issue_labels: 'Default' })
        expect([201, 409]).toContain(again.status)
        if (again.status === 201) interrupted += 1
      }
      await expectWhole(checked)
    }
    await replica.stop()
    // Else the kills came between creations and have shown nothing.
    expect(interrupted).toBeGreaterThan(0)
    expect(orphans).toBeGreaterThan(0)
    const [counts] = await service.context.sql`
      select repositories_count, (select count(*)::int from repositories) as rows from users where name = ${owner.name}`
    expect(counts?.repositories_count).toBe(counts?.rows)
  },
  60_000 + ROUNDS * 15_000,
)

test('a search for orphans leaves a creation alone that is going on', async () => {
  const { context } = service
  const id = await reserveRepositoryId(context.db)
  await context.sql
    .begin(async (tx) => {
      await tx`delete from repository_reservations where id = ${id}`
      await context.git.createRepository(id, { objectFormat: 'sha1', defaultBranch: 'main' })
      await removeOrphanFolders(context, never)
      expect(await context.git.exists(id)).toBe(true)
      expect(await removeOrphanFolder(context, id)).toBe(false)
      throw new Error('the creation fails')
    })
    .catch(() => undefined)
  await removeOrphanFolders(context, never)
  expect(await context.git.exists(id)).toBe(false)
  expect(await removeOrphanFolder(context, id)).toBe(false)
})

test('a folder that no reservation names is not touched: the database may be the wrong one', async () => {
  const { context } = service
  const id = 4_000_000_000
  await context.git.createRepository(id, { objectFormat: 'sha1', defaultBranch: 'main' })
  await removeOrphanFolders(context, never)
  expect(await context.git.exists(id)).toBe(true)
  await context.git.removeRepository(id)
})

test('an id whose place in the store is used is passed over, and what lies there stays', async () => {
  const { context } = service
  const next = (await reserveRepositoryId(context.db)) + 1
  await context.git.createRepository(next, { objectFormat: 'sha1', defaultBranch: 'theirs' })
  const made = await owner.client.post('/user/repos', { name: 'passed-over' })
  expect(made.number('id')).toBeGreaterThan(next)
  await removeOrphanFolders(context, never)
  expect(await context.git.getHead(next)).toBe('refs/heads/theirs')
  await context.git.removeRepository(next)
})
