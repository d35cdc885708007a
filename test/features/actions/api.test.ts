import { afterAll, beforeAll, expect, test } from 'bun:test'
import { registerRunner, type TestRunner } from '../../harness/runner.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'

let service: TestService
let owner: TestUser
let stranger: TestUser
let repo: TestRepository
let other: TestRepository
let runner: TestRunner
let actions: string
let runId: number

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  stranger = await service.createUser()
  repo = await service.createRepository(owner)
  other = await service.createRepository(owner)
  actions = `${repo.path}/actions`
  runner = await registerRunner(service.url, { owner, at: `${actions}/runners` })
  const jobs =
    'a: { runs-on: linux, steps: [{ name: say, run: x }] }, b: { needs: a, runs-on: linux, steps: [{ run: x }] }'
  const content = btoa(`name: ci\non: push\njobs: { ${jobs} }`)
  await owner.client.post(`${repo.path}/contents/.gitea/workflows/ci.yml`, { content, message: 'add workflow' })
  await service.drain()
  runId = (await owner.client.get(`${actions}/runs`)).number('workflow_runs.0.id')
})
afterAll(() => service.stop())

const jobsOf = async () => {
  const { body } = await owner.client.get(`${actions}/runs/${runId}/jobs`)
  return Object(body).jobs as { id: number; name: string; status: string }[]
}

test('a run, its jobs and their log are shown as they go', async () => {
  const at = `${actions}/runs/${runId}`
  const [a, b] = await jobsOf()
  expect([a?.status, b?.status]).toEqual(['queued', 'waiting'])
  expect((await owner.client.get(at)).body).toMatchObject({
    ...{ display_title: 'add workflow', path: 'ci.yml@refs/heads/main', event: 'push', run_number: 1, run_attempt: 0 },
    ...{ status: 'queued', head_branch: 'main', actor: { login: owner.name }, repository: { id: repo.id } },
    ...{ started_at: '1970-01-01T00:00:00Z', completed_at: '1970-01-01T00:00:00Z' },
  })
  expect((await owner.client.get(`${actions}/jobs/${a?.id}/logs`)).status).toBe(404)
  expect((await owner.client.delete(at)).status).toBe(400)

  const task = await runner.take()
  expect((await owner.client.get(at)).string('status')).toBe('in_progress')
  await runner.log(task, ['hello'])
  await runner.end(task)
  await service.drain()
  expect((await owner.client.get(at)).string('status')).toBe('queued')
  expect((await stranger.client.get(`${actions}/jobs/${a?.id}`)).body).toMatchObject({
    ...{
      name: 'a',
      status: 'completed',
      conclusion: 'success',
      run_attempt: 1,
      runner_id: runner.id,
      labels: ['linux'],
    },
    steps: [{ name: 'say', number: 0, status: 'completed', conclusion: 'success' }],
  })
  const log = await stranger.client.get(`${actions}/jobs/${a?.id}/logs`)
  expect(log.text).toBe('2026-01-02T03:04:05.6789012Z hello\n')
  expect(log.headers.get('content-disposition')).toBe(`attachment; filename=ci-a-${a?.id}.log`)

  await runner.end(await runner.take(), 'RESULT_FAILURE')
  await service.drain()
  expect((await service.anonymous.get(at)).body).toMatchObject({ status: 'completed', conclusion: 'failure' })
})

test('lists are filtered', async () => {
  const count = async (query: object, list = 'runs') =>
    (await owner.client.get(`${actions}/${list}`, { ...query })).number('total_count')
  expect(await count({ status: 'completed' })).toBe(1)
  expect(await count({ status: ['success', 'failure'] })).toBe(1)
  expect(await count({ status: 'pending' })).toBe(0)
  expect(await count({ event: 'push', branch: 'main', actor: owner.name.toUpperCase() })).toBe(1)
  for (const none of [{ event: 'create' }, { branch: 'side' }, { actor: stranger.name }, { head_sha: '00' }])
    expect(await count(none)).toBe(0)
  expect(await count({ status: 'success' }, 'jobs')).toBe(1)
  expect((await owner.client.get(`${actions}/jobs`, { order: 'desc', limit: 1 })).string('jobs.0.name')).toBe('b')
  for (const list of ['runs', 'jobs', `runs/${runId}/jobs`])
    for (const status of ['nosuch', 'blocked']) {
      const refused = await owner.client.get(`${actions}/${list}`, { status })
      expect([refused.status, refused.string('message')]).toEqual([400, `Invalid status ${status}`])
    }
})

test('what is not there, is hidden or is of another repository is not found', async () => {
  const [job] = await jobsOf()
  const wrong = `${other.path}/actions`
  for (const path of [`runs/${runId}`, `runs/${runId}/jobs`, `jobs/${job?.id}`, `jobs/${job?.id}/logs`])
    expect([path, (await owner.client.get(`${wrong}/${path}`)).status]).toEqual([path, 404])
  for (const path of ['runs/abc', 'runs/999999999', 'jobs/0', 'jobs/x/logs'])
    expect([path, (await owner.client.get(`${actions}/${path}`)).status]).toEqual([path, 404])
  for (const path of ['runs', 'jobs', `jobs/${job?.id}`, `jobs/${job?.id}/logs`])
    expect([path, (await service.anonymous.get(`${actions}/${path}`)).status]).toEqual([path, 401])
  await owner.client.patch(repo.path, { private: true })
  for (const path of ['runs', 'jobs', `runs/${runId}`, `jobs/${job?.id}/logs`])
    expect([path, (await stranger.client.get(`${actions}/${path}`)).status]).toEqual([path, 404])
  await owner.client.patch(repo.path, { private: false })
})

test('a run that has ended is deleted by writers', async () => {
  const at = `${actions}/runs/${runId}`
  expect((await stranger.client.delete(at)).status).toBe(403)
  expect((await service.anonymous.delete(at)).status).toBe(401)
  expect((await owner.client.delete(`${other.path}/actions/runs/${runId}`)).status).toBe(404)
  expect((await owner.client.delete(at)).status).toBe(204)
  expect((await owner.client.delete(at)).status).toBe(404)
  expect((await owner.client.get(`${actions}/jobs`)).number('total_count')).toBe(0)
})
