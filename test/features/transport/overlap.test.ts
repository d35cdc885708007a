import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type postgres from 'postgres'
import { connect } from '../../../db/connect.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'

let service: TestService
let other: postgres.Sql
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService()
  other = connect(service.databaseUrl, { max: 1 })
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
})
afterAll(async () => {
  await other.end()
  await service.stop()
})

interface WorkTree {
  sha: string
  push(): Promise<string>
}

/** A clone with one new commit. */
async function newCommit(repo: TestRepository): Promise<WorkTree> {
  const cwd = join(service.git.folder, crypto.randomUUID())
  await service.git(['clone', '-q', repo.cloneUrl, cwd])
  await service.git(['commit', '-q', '--allow-empty', '-m', 'more'], { cwd })
  return {
    sha: await service.git(['rev-parse', 'HEAD'], { cwd }),
    push: () => service.git(['push', '-q', 'origin', 'HEAD:main'], { cwd }),
  }
}

/** Until a transaction of the service waits for one that the test has open. */
const untilBlocked = () =>
  until(async () => {
    const rows = await service.context.sql`
      select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    return rows.length > 0
  }, 'the push waits for the row of the repository')

const pushesOf = async ({ id }: TestRepository) => {
  const rows = await service.context.sql<{ old: string; new: string }[]>`
    select payload ->> 'oldSha' as old, payload ->> 'newSha' as new from events
    where kind = 'push' and repository_id = ${id} order by id`
  return [...rows]
}

test('nobody who writes an issue, comments or stars waits for a push that waits', async () => {
  const repo = await service.createRepository(alice)
  const first = await alice.client.post(`${repo.path}/issues`, { title: 'first' })
  const { sha, push } = await newCommit(repo)
  const pushing = await other.begin(async (tx) => {
    await tx`select 1 from repositories where id = ${repo.id} for no key update`
    const running = push()
    await untilBlocked()
    const issue = `${repo.path}/issues/${first.number('number')}`
    expect((await bob.client.post(`${repo.path}/issues`, { title: 'second' })).status).toBe(201)
    expect((await bob.client.post(`${issue}/comments`, { body: 'x' })).status).toBe(201)
    expect((await alice.client.patch(issue, { state: 'closed' })).status).toBe(201)
    expect((await bob.client.put(`/user/starred/${repo.owner}/${repo.name}`)).status).toBe(204)
    expect((await bob.client.put(`${repo.path}/subscription`)).status).toBe(200)
    return [running]
  })
  await Promise.all(pushing)
  expect((await alice.client.get(`${repo.path}/branches/main`)).string('commit.id')).toBe(sha)
})

test('what another replica has recorded meanwhile is not recorded again', async () => {
  const repo = await service.createRepository(alice)
  const { sha, push } = await newCommit(repo)
  const pushing = await other.begin(async (tx) => {
    await tx`select 1 from repositories where id = ${repo.id} for no key update`
    const running = push()
    await untilBlocked()
    await tx`update refs set sha = ${sha} where repository_id = ${repo.id} and name = 'main'`
    await tx`update repository_counters set refs_generation = refs_generation + 1 where repository_id = ${repo.id}`
    return [running]
  })
  await Promise.all(pushing)
  expect(await pushesOf(repo)).toEqual([])
})

test('a default branch that is changed while a push waits stays as its owner said', async () => {
  const repo = await service.createRepository(alice)
  expect((await alice.client.post(`${repo.path}/branches`, { new_branch_name: 'next' })).status).toBe(201)
  const { push } = await newCommit(repo)
  const work = [push(), alice.client.patch(repo.path, { default_branch: 'next' })]
  await Promise.all(work)
  expect((await alice.client.get(repo.path)).string('default_branch')).toBe('next')
  expect(await service.context.git.getHead(repo.id)).toBe('refs/heads/next')
})

test('pushes to one branch, one after the other and at once, are told in one unbroken row', async () => {
  const repo = await service.createRepository(alice)
  for (let round = 0; round < 2; round += 1) {
    const trees = await Promise.all([newCommit(repo), newCommit(repo), newCommit(repo)])
    await Promise.allSettled(trees.map(({ push }) => push()))
  }
  const pushes = await pushesOf(repo)
  expect(pushes.length).toBeGreaterThanOrEqual(2)
  for (const [index, { old }] of pushes.entries()) if (index > 0) expect(old).toBe(pushes[index - 1]?.new ?? '')
  const head = await service.context.git.readCommit(repo.id, 'main')
  expect(pushes.at(-1)?.new).toBe(head.sha)
})
