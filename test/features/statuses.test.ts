import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { openSink, type Sink } from '../webhooks/sink.ts'

let service: TestService
let owner: TestUser
let reader: TestUser
let repo: TestRepository
let sha: string
let sink: Sink

beforeAll(async () => {
  service = await startTestService({ settings: { WEBHOOK_ALLOWED_HOSTS: 'loopback', MAX_OWNED: '30' } })
  owner = await service.createUser()
  reader = await service.createUser()
  repo = await service.createRepository(owner)
  sha = (await owner.client.get(`${repo.path}/branches/main`)).string('commit.id')
  sink = await openSink()
})
afterAll(async () => {
  await service.stop()
  await sink.close()
})

const say = (body: object, at = sha) => owner.client.post(`${repo.path}/statuses/${at}`, body)
const combined = async (ref = 'main') => (await service.anonymous.get(`${repo.path}/commits/${ref}/status`)).body

test('the newest word of each context counts, and the worst of these', async () => {
  expect(await combined()).toMatchObject({ state: 'pending', total_count: 0, statuses: [], sha })
  const steps = [
    ['success', 'a', 'success', 1],
    ['skipped', 'b', 'success', 2],
    ['pending', 'c', 'pending', 3],
    ['warning', 'd', 'failure', 4],
    ['success', 'd', 'pending', 4],
    ['success', 'c', 'success', 4],
    ['error', '', 'failure', 5],
  ] as const
  for (const [state, context, whole, total] of steps) {
    expect((await say({ state, context })).status).toBe(201)
    expect(await combined()).toMatchObject({ state: whole, total_count: total })
  }
  const page = await service.anonymous.get(`${repo.path}/commits/${sha}/status`, { limit: 2, page: 2 })
  expect(page.body).toMatchObject({ state: 'failure', total_count: 5, statuses: [{}, {}] })
  expect(page.headers.get('x-total-count')).toBe('5')
  const history = await service.anonymous.get(`${repo.path}/statuses/main`, { state: 'skipped' })
  expect(history.body).toMatchObject([{ context: 'b', status: 'skipped' }])
})

test('a branch with a slash is named by its encoded name', async () => {
  await owner.client.post(`${repo.path}/branches`, { new_branch_name: 'deep/er' })
  expect(await combined('deep%2Fer')).toMatchObject({ sha })
})

test('is refused', async () => {
  for (const body of [{}, { state: 'perhaps' }, { state: 1 }, { state: 'success', context: 'x'.repeat(256) }])
    expect((await say(body)).status).toBe(422)
  const path = `${repo.path}/statuses/${sha}`
  expect((await reader.client.post(path, { state: 'success' })).status).toBe(403)
  expect((await service.anonymous.post(path, { state: 'success' })).status).toBe(401)
  for (const unknown of ['nowhere', `${'0'.repeat(39)}1`, '--all', '..%2F..'])
    expect((await say({ state: 'success' }, unknown)).status).toBe(404)
  expect((await owner.client.get(`${repo.path}/commits/nowhere/status`)).status).toBe(404)
  expect((await owner.client.get(`${repo.path}/commits/nowhere/statuses`)).status).toBe(404)
})

test('many at once are all kept, up to MAX_OWNED of a context', async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => say({ state: 'success', context: 'many' })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(30)
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(10)
})

test('hooks hear of it', async () => {
  await service.drain()
  const config = { url: `${sink.url}/hook`, content_type: 'json' }
  await owner.client.post(`${repo.path}/hooks`, { type: 'gitea', active: true, events: ['status'], config })
  await say({ state: 'success', context: 'ci', description: 'fine', target_url: 'https://ci.example/1' })
  await service.drain()
  expect(sink.received.map(({ json }) => JSON.parse(JSON.stringify(json)))).toMatchObject([
    {
      sha,
      state: 'success',
      context: 'ci',
      description: 'fine',
      target_url: 'https://ci.example/1',
      commit: { id: sha },
    },
  ])
})

test('what was said stays when its author goes, and goes with the repository', async () => {
  const author = await service.createUser()
  const place = await service.createRepository(owner)
  await owner.client.put(`${place.path}/collaborators/${author.name}`, { permission: 'write' })
  expect((await author.client.post(`${place.path}/statuses/main`, { state: 'success' })).status).toBe(201)
  expect((await service.admin.client.delete(`/admin/users/${author.name}`)).status).toBe(204)
  expect((await owner.client.get(`${place.path}/statuses/main`)).body).toMatchObject([{ creator: { login: 'Ghost' } }])
  expect((await owner.client.delete(place.path)).status).toBe(204)
  expect(await service.context.sql`select 1 from commit_statuses where repository_id = ${place.id}`).toHaveLength(0)
})
