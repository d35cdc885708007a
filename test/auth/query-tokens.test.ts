import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ settings: { QUERY_TOKENS: 'refuse' } })
})
afterAll(() => service.stop())

test('a site can refuse tokens in the query, also right ones', async () => {
  const token = service.admin.token
  for (const key of ['token', 'access_token']) {
    const refused = await service.anonymous.get('/version', { [key]: token })
    expect(refused.status).toBe(401)
    expect(refused.text).not.toContain(token)
  }
  expect((await service.admin.client.get('/user')).status).toBe(200)
})
