import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

test('a text in a query means itself, brackets, braces and commas included', async () => {
  const titles = ['[bug] one, two', '[else', '["x"]', '{"a": 1}', 'c, b', '[list]']
  const owner = await service.createUser()
  const repo = await service.createRepository(owner)
  for (const title of titles) await owner.client.post(`${repo.path}/issues`, { title })
  for (const q of titles) {
    const { body } = await owner.client.get(`${repo.path}/issues`, { q })
    const found = Array.isArray(body) ? body.map(({ title }) => title) : body
    expect([q, found]).toEqual([q, [q]])
  }
})

test('of a repeated key the first value counts, with brackets too', async () => {
  const limits = await service.admin.client.get('/admin/cron?limit=1&limit=5')
  expect(limits.body).toHaveLength(1)
  const bracketed = await service.admin.client.get('/admin/cron?limit=1&limit=5&x=[a]&x=%5Bb')
  expect(bracketed.body).toHaveLength(1)
  const wrong = await service.admin.client.get('/admin/cron?limit=[1]')
  expect(Array.isArray(wrong.body) && wrong.body.length > 1).toBe(true)
})
