import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService } from '../harness/service.ts'

let service: TestService
let repository: TestRepository
beforeAll(async () => {
  service = await startTestService()
  repository = await service.createRepository(service.admin)
})
afterAll(() => service.stop())

test.each([
  '/users/%00',
  '/users/%FF',
  '/users/%ZZ',
  '/orgs/a%00b',
  '/repos/%00/x',
  '/repos/root-admin/%C3',
  '/repos/OWN/branches/%00',
  '/repos/OWN/contents/a%00b',
  '/repos/OWN/raw/%FF',
  '/repos/OWN/milestones/%00',
])('%j names nothing', async (path) => {
  expect((await service.admin.client.get(path.replace('/repos/OWN', repository.path))).status).toBe(404)
})

test('NUL in a query is a character like others, which nothing has', async () => {
  const { client } = service.admin
  const found = await client.get('/users/search?q=%00')
  expect(found.body).toEqual({ data: [], ok: true })
  const issues = await client.get(`${repository.path}/issues?created_by=a%00&labels=x%00,y&state=%00`)
  expect([issues.status, issues.body]).toEqual([200, []])
})

test.each(['a', 'git', 'git:3000', 'localhost', '[::1]'])('at the host %j paths are whole', async (host) => {
  const headers = { host, authorization: `token ${service.admin.token}` }
  const found = await fetch(`${service.url}/api/v1/user`, { headers })
  expect([found.status, Object((await found.json()) ?? {}).login]).toEqual([200, service.admin.name])
  // Nothing of the path may be taken for the host either.
  expect((await fetch(`${service.url}/z/api/v1/user`, { headers })).status).toBe(404)
})
