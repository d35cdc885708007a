import { afterAll, beforeAll, expect, test } from 'bun:test'
import { scheduleTasks } from '../../../src/triggers/schedules.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'

let service: TestService
let owner: TestUser
/** The clock of the service: a quarter past a full hour, and what tests let pass. */
let now = new Date('2026-11-22T10:15:00Z')
beforeAll(async () => {
  service = await startTestService({ clock: { now: () => now } })
  owner = await service.createUser('owner')
})
afterAll(() => service.stop())

const pass = (minutes: number) => {
  now = new Date(now.getTime() + minutes * 60_000)
}

/** What the timer of each replica does, and what follows. */
async function tick(replicas = 1) {
  const signal = new AbortController().signal
  const tasks = Array.from({ length: replicas }, () => scheduleTasks).flat()
  await Promise.all(tasks.map((task) => task.run(service.context, signal)))
  await service.drain()
}

const at = (repo: TestRepository, name: string) => `${repo.path}/contents/.gitea/workflows/${name}`

async function commit(repo: TestRepository, name: string, text: string, branch?: string): Promise<void> {
  const old = await owner.client.get(at(repo, name), { ...(branch && { ref: branch }) })
  const option = { content: btoa(text), message: `change ${name}`, ...(branch && { branch }) }
  const sent =
    old.status === 200
      ? await owner.client.put(at(repo, name), { ...option, sha: old.string('sha') })
      : await owner.client.post(at(repo, name), option)
  expect(sent.status).toBeLessThan(300)
  await service.drain()
}

async function remove(repo: TestRepository, name: string): Promise<void> {
  const { sha } = Object((await owner.client.get(at(repo, name))).body)
  expect((await owner.client.request(at(repo, name), { method: 'DELETE', json: { sha, message: 'x' } })).status).toBe(
    200,
  )
  await service.drain()
}

const runsOf = (repo: TestRepository) =>
  service.context.sql<
    { file: string; event: string; sha: string; ref: string; actor: number; chain: number; github: { event: object } }[]
  >`select workflow_file as file, event, head_sha as sha, ref, actor_id as actor, chain_length as chain, github
    from actions_runs where repository_id = ${repo.id} order by id`

const filesOf = async (repo: TestRepository) => (await runsOf(repo)).map(({ file }) => file)

const JOBS = 'jobs: { a: { runs-on: linux, steps: [{ run: x }] } }'
const scheduled = (...crons: string[]) =>
  `on:\n  schedule:\n${crons.map((cron) => `    - cron: "${cron}"\n`).join('')}${JOBS}`

test('a schedule starts its workflow once for each time that it is due, however many replicas look', async () => {
  const repo = await service.createRepository(owner)
  await commit(repo, 'hourly.yml', scheduled('30 * * * *'))
  await tick()
  expect(await filesOf(repo)).toEqual([])
  pass(15)
  await tick(6)
  const tip = (await owner.client.get(`${repo.path}/branches/main`)).string('commit.id')
  expect(await runsOf(repo)).toMatchObject([
    {
      ...{ file: 'hourly.yml', event: 'schedule', sha: tip, ref: 'refs/heads/main' },
      github: {
        ...{ event_name: 'schedule', actor: 'owner' },
        event: { schedule: '30 * * * *', repository: { full_name: `owner/${repo.name}` }, sender: { login: 'owner' } },
      },
    },
  ])
  await tick(3)
  pass(59)
  await tick()
  expect(await filesOf(repo)).toHaveLength(1)
  pass(1)
  await tick()
  expect(await filesOf(repo)).toHaveLength(2)
  // Nobody was there for five of them.
  pass(5 * 60)
  await tick(2)
  await tick()
  expect(await filesOf(repo)).toHaveLength(3)
})

test('each entry starts those workflows that have it, with its time zone', async () => {
  const repo = await service.createRepository(owner)
  now = new Date('2026-11-23T10:00:00Z')
  const tokyo = `on:\n  schedule:\n    - cron: "30 20 * * *"\n      timezone: Asia/Tokyo\n${JOBS}`
  await commit(repo, 'one.yml', scheduled('30 * * * *', '30 11 * * *'))
  await commit(repo, 'two.yml', scheduled('30 20 * * *'))
  await commit(repo, 'tokyo.yml', tokyo)
  now = new Date('2026-11-23T11:30:00Z')
  await tick()
  // The one entry was due at 10:30 as well; both are due once.
  expect((await filesOf(repo)).toSorted()).toEqual(['one.yml', 'one.yml', 'tokyo.yml'])
})

test('schedules are those of the default branch', async () => {
  const repo = await service.createRepository(owner)
  await owner.client.post(`${repo.path}/branches`, { new_branch_name: 'side' })
  await commit(repo, 'side.yml', scheduled('* * * * *'), 'side')
  await commit(repo, 'main.yml', scheduled('*/2 * * * *'))
  pass(2)
  await tick()
  expect(await filesOf(repo)).toEqual(['main.yml'])
  await commit(repo, 'main.yml', scheduled('0 0 1 1 *'))
  pass(2)
  await tick()
  expect(await filesOf(repo)).toEqual(['main.yml'])
  await commit(repo, 'main.yml', scheduled('*/2 * * * *'))
  await remove(repo, 'main.yml')
  pass(2)
  await tick()
  expect(await filesOf(repo)).toEqual(['main.yml'])
  expect((await owner.client.patch(repo.path, { default_branch: 'side' })).status).toBe(200)
  await service.drain()
  pass(1)
  await tick()
  expect(await filesOf(repo)).toEqual(['main.yml', 'side.yml'])
  expect((await runsOf(repo)).at(-1)?.ref).toBe('refs/heads/side')
})

test('nothing starts while the repository is archived, has no actions, or the workflow is disabled', async () => {
  const repo = await service.createRepository(owner)
  await commit(repo, 'often.yml', scheduled('* * * * *'))
  for (const [off, on] of [
    [{ archived: true }, { archived: false }],
    [{ has_actions: false }, { has_actions: true }],
  ]) {
    await owner.client.patch(repo.path, { ...off })
    pass(3)
    await tick()
    await owner.client.patch(repo.path, { ...on })
    await tick()
    expect(await filesOf(repo)).toEqual([])
  }
  expect((await owner.client.put(`${repo.path}/actions/workflows/often.yml/disable`)).status).toBe(204)
  pass(1)
  await tick()
  expect(await filesOf(repo)).toEqual([])
  expect((await owner.client.put(`${repo.path}/actions/workflows/often.yml/enable`)).status).toBe(204)
  pass(1)
  await tick()
  expect(await filesOf(repo)).toEqual(['often.yml'])
})

test('a workflow with more schedules than are allowed has failed, and says why', async () => {
  const repo = await service.createRepository(owner)
  await commit(repo, 'many.yml', scheduled(...Array.from({ length: 21 }, (_, minute) => `${minute} * * * *`)))
  const [run] = await service.context.sql`select error from actions_runs where repository_id = ${repo.id}`
  expect(run?.error).toContain('more than 20 schedules')
})

const SKIPPED = 'jobs: { a: { if: false, runs-on: linux, steps: [{ run: x }] } }'
const after = (names: string, more = '') => `on:\n  workflow_run:\n    workflows: [${names}]\n${more}${SKIPPED}`

test('a workflow starts those of the default branch that wait for it', async () => {
  const repo = await service.createRepository(owner)
  await owner.client.post(`${repo.path}/branches`, { new_branch_name: 'side' })
  await commit(repo, 'elsewhere.yml', after('first', '    types: [completed]\n'), 'side')
  await commit(repo, 'ended.yml', `name: second\n${after('first', '    types: [completed]\n    branches: [main]\n')}`)
  await commit(repo, 'other.yml', after('another'))
  await commit(repo, 'begun.yml', after('first', '    types: [in_progress]\n'))
  await commit(repo, 'branch.yml', after('first', '    branches: [side]\n'))
  await commit(repo, 'first.yml', `name: first\non: push\n${SKIPPED}`)
  const runs = await runsOf(repo)
  expect(runs.map(({ file, event, chain }) => `${file} ${event} ${chain}`)).toEqual([
    'first.yml push 0',
    'ended.yml workflow_run 1',
  ])
  expect(runs[1]).toMatchObject({
    ref: 'refs/heads/main',
    github: {
      ...{ event_name: 'workflow_run', actor: 'owner' },
      event: {
        ...{ action: 'completed', workflow: { name: 'first', id: 'first.yml' } },
        workflow_run: { conclusion: 'skipped', head_branch: 'main', event: 'push' },
      },
    },
  })
})

test('workflows that start each other come to an end', async () => {
  const repo = await service.createRepository(owner)
  await commit(
    repo,
    'self.yml',
    `name: self\non: { push: {}, workflow_run: { workflows: [self], types: [requested] } }\n${JOBS}`,
  )
  expect((await runsOf(repo)).map(({ chain }) => chain)).toEqual([0, 1, 2, 3])
})

test('no run is the first of more than about a hundred', async () => {
  const repo = await service.createRepository(owner)
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await commit(repo, `${name}.yml`, `name: ${name}\n${after('a, b, c, d, e, start', '    types: [completed]\n')}`)
  await commit(repo, 'start.yml', `name: start\non: push\n${SKIPPED}`)
  const count = (await runsOf(repo)).length
  // One, five, twenty-five, and then a hundred and twenty-five would follow.
  expect(count).toBeGreaterThan(100)
  expect(count).toBeLessThanOrEqual(1 + 104)
}, 120_000)
