import { afterAll, beforeAll, expect, test } from 'bun:test'
import { artifactTasks } from '../../../src/features/actions-artifacts/collect.ts'
import { artifactClient, runtimeTokenOf } from '../../harness/artifacts.ts'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'

/** Of the service; moved by tests. */
let ahead = 0
let service: TestService
let owner: TestUser
let reader: TestUser
let stranger: TestUser
beforeAll(async () => {
  service = await startTestService({ clock: { now: () => new Date(Date.now() + ahead) } })
  owner = await service.createUser()
  reader = await service.createUser()
  stranger = await service.createUser()
})
afterAll(() => service.stop())

/** A repository whose job is at work. */
async function started(option: Record<string, unknown> = {}) {
  const repo = await service.createRepository(owner, option)
  await owner.client.put(`${repo.path}/collaborators/${reader.name}`, { permission: 'read' })
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const text = 'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }'
  const path = `${repo.path}/contents/.gitea/workflows/ci.yml`
  const push = async () => {
    await owner.client.post(path.replace('ci.yml', `${crypto.randomUUID()}.yml`), {
      content: btoa(text),
      message: 'ci',
    })
    await service.drain()
    const task = await runner.take()
    return { task, job: artifactClient(service.url, runtimeTokenOf(task)) }
  }
  return { repo, runner, push, list: `${repo.path}/actions/artifacts`, ...(await push()) }
}

interface Listed {
  artifacts: { id: number; name: string }[]
  total_count: number
}
const listed = async (path: string, query: Record<string, string | number> = {}) => {
  const { body } = await owner.client.get(path, query)
  const { artifacts, total_count } = body as unknown as Listed
  return { names: artifacts.map(({ name }) => name), total: total_count }
}

test('a list shows what is finalized, the newest first, by name and page by page', async () => {
  const { repo, runner, push, list, job, task } = await started()
  expect(await listed(list)).toEqual({ names: [], total: 0 })
  await job.create('unfinished')
  for (const name of ['one', 'two', 'three']) await job.upload(name, name)
  await runner.end(task)
  await service.drain()
  const second = (await push()).job
  await second.upload('one', 'again')
  expect(await listed(list)).toEqual({ names: ['one', 'three', 'two', 'one'], total: 4 })
  expect(await listed(list, { name: 'one' })).toEqual({ names: ['one', 'one'], total: 2 })
  expect(await listed(list, { name: 'on' })).toEqual({ names: [], total: 0 })
  expect(await listed(list, { page: 2, limit: 3 })).toEqual({ names: ['one'], total: 4 })
  const page = await owner.client.get(list, { page: 1, limit: 3 })
  expect([page.headers.get('x-total-count'), page.headers.get('link')]).toEqual([null, null])
  const run = (id: string | undefined) => `${repo.path}/actions/runs/${id}/artifacts`
  const first = run(job.ids.workflow_run_backend_id)
  expect(await listed(first)).toEqual({ names: ['three', 'two', 'one'], total: 3 })
  expect(await listed(first, { name: 'two' })).toEqual({ names: ['two'], total: 1 })
  expect(await listed(run(second.ids.workflow_run_backend_id))).toEqual({ names: ['one'], total: 1 })
  expect((await owner.client.get(run('999999'))).status).toBe(404)
  const foreign = await started()
  expect((await owner.client.get(run(foreign.job.ids.workflow_run_backend_id))).status).toBe(404)
})

test('an artifact says what it is, and of which run', async () => {
  const { repo, list, job } = await started()
  const id = await job.upload('result', 'content')
  const { body } = await owner.client.get(`${list}/${id}`)
  const apiUrl = `${service.context.baseUrl}/api/v1${repo.path}`
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const runId = Number(job.ids.workflow_run_backend_id)
  expect(body).toEqual({
    id,
    name: 'result',
    size_in_bytes: 7,
    url: `${apiUrl}/actions/artifacts/${id}`,
    archive_download_url: `${apiUrl}/actions/artifacts/${id}/zip`,
    expired: false,
    created_at: time,
    updated_at: time,
    expires_at: time,
    workflow_run: expect.objectContaining({ id: runId, repository_id: repo.id, status: 'in_progress' }),
  })
  const days = (Date.parse(Object(body).expires_at) - Date.parse(Object(body).created_at)) / 86_400_000
  expect(days).toBe(90)
})

test('the archive is behind an address that needs no token, for a while', async () => {
  const { repo, list, job } = await started({ private: true })
  const id = await job.upload('result', 'content')
  const answer = await reader.client.get(`${list}/${id}/zip`)
  expect(answer.status).toBe(302)
  const address = answer.headers.get('location') ?? ''
  expect(address).toStartWith(`${service.context.baseUrl}/api/v1${list}/${id}/zip/raw?`)
  const file = await fetch(address)
  expect([file.status, await file.text(), file.headers.get('content-type')]).toEqual([
    200,
    'content',
    'application/zip',
  ])
  expect(file.headers.get('content-security-policy')).toContain('sandbox')
  const part = await fetch(address, { headers: { range: 'bytes=3-' } })
  expect([part.status, await part.text()]).toEqual([206, 'tent'])
  const head = await fetch(address, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '7'])
  const other = await started({ private: true })
  const foreign = await other.job.upload('result', 'secret')
  const statusOf = async (url: string) => (await fetch(url)).status
  expect(await statusOf(address.replace(`/${id}/`, `/${foreign}/`))).toBe(401)
  expect(await statusOf(address.replace(`/${repo.name}/`, `/${other.repo.name}/`))).toBe(404)
  expect(await statusOf(address.split('?')[0] ?? '')).toBe(401)
  expect(await statusOf(`${address}x`)).toBe(401)
  expect(await statusOf(address.replace(/expires=\d+/, 'expires=99999999999'))).toBe(401)
  ahead = 16 * 60_000
  expect(await statusOf(address)).toBe(401)
  ahead = 0
  expect((await owner.client.delete(`${list}/${id}`)).status).toBe(204)
  expect(await statusOf(address)).toBe(404)
})

test('who may not read sees nothing, and who may not write deletes nothing', async () => {
  const { list, job } = await started({ private: true })
  const open = await started()
  const id = await job.upload('result', 'content')
  const shown = await open.job.upload('result', 'content')
  for (const path of [list, `${list}/${id}`, `${list}/${id}/zip`]) {
    expect([path, (await service.anonymous.get(path)).status]).toEqual([path, 404])
    expect([path, (await stranger.client.get(path)).status]).toEqual([path, 404])
  }
  expect((await stranger.client.delete(`${list}/${id}`)).status).toBe(404)
  expect((await reader.client.delete(`${list}/${id}`)).status).toBe(403)
  expect((await service.anonymous.delete(`${open.list}/${shown}`)).status).toBe(401)
  expect((await stranger.client.delete(`${open.list}/${shown}`)).status).toBe(403)
  expect((await service.anonymous.get(`${open.list}/${shown}`)).status).toBe(200)
  expect((await reader.client.get(`${list}/${id}`)).status).toBe(200)
  // One of another repository.
  for (const client of [owner.client, service.admin.client]) {
    expect((await client.get(`${open.list}/${id}`)).status).toBe(404)
    expect((await client.get(`${open.list}/${id}/zip`)).status).toBe(404)
    expect((await client.delete(`${open.list}/${id}`)).status).toBe(404)
  }
  for (const wrong of ['x', '0', '-1', '99999999999999999999'])
    expect([wrong, (await owner.client.get(`${list}/${wrong}`)).status]).toEqual([wrong, 404])
  expect((await owner.client.get(`${list}/${id}`)).status).toBe(200)
})

test('a deleted artifact is gone for jobs too, and its name is free; one that is being sent cannot be deleted', async () => {
  const { list, job } = await started()
  const address = await job.create('half')
  const begun = Number(new URL(address).searchParams.get('artifactID'))
  expect((await owner.client.get(`${list}/${begun}`)).status).toBe(404)
  expect((await owner.client.delete(`${list}/${begun}`)).status).toBe(404)
  const id = await job.upload('result', 'content')
  expect((await owner.client.delete(`${list}/${id}`)).status).toBe(204)
  expect((await owner.client.delete(`${list}/${id}`)).status).toBe(404)
  expect((await owner.client.get(`${list}/${id}`)).status).toBe(404)
  expect(await job.names()).toEqual([])
  expect(await job.upload('result', 'newer')).toBeGreaterThan(id)
})

test('an expired artifact is still listed, and leads nowhere', async () => {
  const { list, job } = await started()
  const id = await job.upload('result', 'content', { expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  ahead = 2 * 3_600_000
  for (const task of artifactTasks) await task.run(service.context, new AbortController().signal)
  ahead = 0
  const shown = await owner.client.get(`${list}/${id}`)
  expect([Object(shown.body).expired, Object(shown.body).size_in_bytes]).toEqual([true, 7])
  expect((await listed(list)).total).toBe(1)
  const led = await owner.client.get(`${list}/${id}/zip`)
  expect([led.status, led.string('message')]).toEqual([404, 'Artifact has expired'])
  expect((await owner.client.delete(`${list}/${id}`)).status).toBe(204)
})
