import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'

let service: TestService
let owner: TestUser
let member: TestUser
let stranger: TestUser

const WORKFLOW = `name: ci
on: push
jobs:
  build: { runs-on: linux, steps: [{ run: x }] }
  after: { needs: build, runs-on: linux, steps: [{ run: x }] }
`

/** A repository with one run. */
async function repositoryWithRun(place: string, name: string, option: object = {}): Promise<string> {
  const made = await owner.client.post(place, { name, auto_init: true, ...option })
  expect(made.status).toBe(201)
  const path = `/repos/${made.string('full_name')}`
  const content = btoa(WORKFLOW)
  expect((await owner.client.post(`${path}/contents/.gitea/workflows/ci.yml`, { content, message: name })).status).toBe(
    201,
  )
  await service.drain()
  return path
}

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser('owner')
  member = await service.createUser('member')
  stranger = await service.createUser('stranger')
  await owner.client.post('/orgs', { username: 'firm' })
  const open = await repositoryWithRun('/orgs/firm/repos', 'open')
  await repositoryWithRun('/orgs/firm/repos', 'secret', { private: true })
  await repositoryWithRun('/orgs/firm/repos', 'code-only', { private: true })
  await repositoryWithRun('/orgs/firm/repos', 'given', { private: true })
  const off = await repositoryWithRun('/orgs/firm/repos', 'off')
  await owner.client.patch(off, { has_actions: false })
  await repositoryWithRun('/user/repos', 'own', { private: true })
  await repositoryWithRun('/user/repos', 'shown')
  for (const [name, unit, repository] of [
    ['builders', 'repo.actions', 'given'],
    ['coders', 'repo.code', 'code-only'],
  ]) {
    const option = { name, permission: 'read', units_map: { [String(unit)]: 'read' } }
    const team = (await owner.client.post('/orgs/firm/teams', option)).number('id')
    await owner.client.put(`/teams/${team}/repos/firm/${repository}`)
    await owner.client.put(`/teams/${team}/members/member`)
  }
  // The first job of one run has ended well.
  const runner = await registerRunner(service.url, { owner, at: `${open}/actions/runners` })
  await runner.end(await runner.take())
  await service.drain()
})
afterAll(() => service.stop())

interface Listed {
  total: number
  titles: string[]
  count: string | null
}

async function runsOf(who: TestUser, at: string, query: object = {}): Promise<Listed> {
  const answer = await who.client.get(`${at}/actions/runs`, { ...query })
  expect(answer.status).toBe(200)
  const rows = Object(answer.body).workflow_runs as { display_title: string; repository: { full_name: string } }[]
  for (const row of rows) expect(row.repository.full_name.endsWith(`/${row.display_title}`)).toBe(true)
  return {
    total: answer.number('total_count'),
    titles: rows.map((row) => row.display_title),
    count: answer.headers.get('x-total-count'),
  }
}

async function jobsOf(who: TestUser, at: string, query: object = {}) {
  const answer = await who.client.get(`${at}/actions/jobs`, { ...query })
  expect(answer.status).toBe(200)
  const rows = Object(answer.body).jobs as { id: number; name: string; url: string; html_url: string }[]
  return { total: answer.number('total_count'), rows, places: new Set(rows.map(({ url }) => url.split('/')[7])) }
}

test('an organization lists the runs and jobs that its member may see', async () => {
  const all = ['given', 'code-only', 'secret', 'open']
  expect(await runsOf(owner, '/orgs/firm')).toEqual({ total: 4, titles: all, count: '4' })
  expect(await runsOf(member, '/orgs/firm')).toEqual({ total: 2, titles: ['given', 'open'], count: '2' })
  const jobs = await jobsOf(member, '/orgs/firm')
  expect([jobs.total, jobs.places]).toEqual([4, new Set(['given', 'open'])])
  const [first] = jobs.rows
  expect(first?.url).toBe(`${service.url}/api/v1/repos/firm/open/actions/jobs/${first?.id}`)
  expect(first?.html_url).toContain(`${service.url}/firm/open/actions/runs/`)
  expect((await member.client.get(String(first?.url).split('/api/v1')[1] ?? '')).body).toEqual({ ...first })
})

test('people list what is their own, administrators what is anywhere', async () => {
  expect((await runsOf(owner, '/user')).titles).toEqual(['shown', 'own'])
  expect((await jobsOf(owner, '/user')).total).toBe(4)
  expect(await runsOf(stranger, '/user')).toEqual({ total: 0, titles: [], count: '0' })
  expect((await runsOf(service.admin, '/admin')).titles).toEqual([
    'shown',
    'own',
    'given',
    'code-only',
    'secret',
    'open',
  ])
  expect((await jobsOf(service.admin, '/admin')).total).toBe(12)
})

test('a token for chosen repositories lists what is public', async () => {
  const basic = service.client({ basic: `owner:${owner.password}` })
  const made = await basic.post('/users/owner/tokens', {
    name: 'chosen',
    scopes: ['all'],
    repositories: [{ owner: 'firm', name: 'secret' }],
  })
  const token = { ...owner, client: service.client({ token: made.string('sha1') }) }
  expect((await token.client.get('/repos/firm/secret/actions/runs')).status).toBe(200)
  expect((await runsOf(token, '/orgs/firm')).titles).toEqual(['open'])
  expect((await jobsOf(token, '/orgs/firm')).places).toEqual(new Set(['open']))
  expect((await token.client.get('/user/actions/runs')).status).toBe(403)
})

describe.each([
  ['an organization', '/orgs/firm', () => owner, 4],
  ['oneself', '/user', () => owner, 2],
  ['the site', '/admin', () => service.admin, 6],
] as const)('the lists of %s', (_, at, who, runs) => {
  test('are filtered', async () => {
    const total = async (query: object) => (await runsOf(who(), at, query)).total
    expect(await total({ event: 'push', branch: 'main', actor: 'OWNER' })).toBe(runs)
    for (const none of [{ event: 'create' }, { branch: 'side' }, { actor: 'stranger' }, { head_sha: '00' }])
      expect([none, await total(none)]).toEqual([none, 0])
    const one = await who().client.get(`${at}/actions/runs`, { limit: 1 })
    expect(await total({ head_sha: one.string('workflow_runs.0.head_sha') })).toBe(1)
    expect(await total({ status: 'queued' })).toBe(runs)
    expect(await total({ status: ['success', 'failure'] })).toBe(0)
    const ended = at === '/user' ? 0 : 1
    expect((await jobsOf(who(), at, { status: 'success' })).total).toBe(ended)
    expect((await jobsOf(who(), at, { status: ['waiting', 'queued'] })).total).toBe(2 * runs - ended)
  })

  test('have pages, and an order', async () => {
    const { titles } = await runsOf(who(), at)
    const second = await who().client.get(`${at}/actions/runs`, { page: 2, limit: 1 })
    expect(second.string('workflow_runs.0.display_title')).toBe(String(titles[1]))
    expect(second.headers.get('link')).toContain('rel="prev"')
    const ids = async (query: object) => (await jobsOf(who(), at, query)).rows.map(({ id }) => id)
    const all = await ids({ sort: 'id' })
    expect(all).toEqual(all.toSorted((one, other) => one - other))
    expect(await ids({ sort: 'id', order: 'desc' })).toEqual(all.toReversed())
    expect(await ids({ sort: 'name' })).toEqual(all)
  })

  test.each(['runs', 'jobs'])('refuse a status that there is not: %s', async (list) => {
    const refused = await who().client.get(`${at}/actions/${list}`, { status: 'nosuch' })
    expect([refused.status, refused.string('message')]).toEqual([400, 'Invalid status nosuch'])
    expect((await service.anonymous.get(`${at}/actions/${list}`)).status).toBe(401)
  })
})

test('who may not, learns nothing', async () => {
  for (const list of ['runs', 'jobs']) {
    expect((await stranger.client.get(`/orgs/firm/actions/${list}`)).status).toBe(403)
    expect((await stranger.client.get(`/orgs/nosuch/actions/${list}`)).status).toBe(404)
    expect((await owner.client.get(`/admin/actions/${list}`)).status).toBe(403)
  }
})

test('attempts of runners are listed for whoever may read the repository', async () => {
  const tasks = await service.anonymous.get('/repos/firm/open/actions/tasks')
  expect([tasks.status, tasks.headers.get('x-total-count')]).toEqual([200, '1'])
  const { body } = await owner.client.get('/repos/firm/open/actions/runs')
  const [run] = Object(body).workflow_runs
  expect(tasks.body).toEqual({
    total_count: 1,
    workflow_runs: [
      {
        ...{ id: expect.any(Number), name: 'build', status: 'success', event: 'push', workflow_id: 'ci.yml' },
        ...{ head_branch: 'main', head_sha: run.head_sha, run_number: 1, display_title: 'open', url: run.html_url },
        ...{ created_at: expect.any(String), updated_at: expect.any(String), run_started_at: run.started_at },
      },
    ],
  })
  expect((await stranger.client.get('/repos/firm/secret/actions/tasks')).status).toBe(404)
  expect((await owner.client.get('/repos/firm/off/actions/tasks')).status).toBe(404)
  expect((await owner.client.get('/repos/firm/given/actions/tasks')).number('total_count')).toBe(0)
})
