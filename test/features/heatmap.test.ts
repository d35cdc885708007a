import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

test('the heatmap of a user who did nothing is empty, and nobody else has one', async () => {
  const ann = await service.createUser()
  for (const client of [ann.client, service.anonymous]) {
    const { status, body } = await client.get(`/users/${ann.name}/heatmap`)
    expect([status, body]).toEqual([200, []])
  }
  expect((await ann.client.get('/users/nobody/heatmap')).status).toBe(404)
})
