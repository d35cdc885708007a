import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  service = await startTestService({ clock, settings: { FREED_NAME_DAYS: '30' } })
})
afterAll(() => service.stop())

const rename = (name: string, newName: string) =>
  service.admin.client.post(`/admin/users/${name}/rename`, { new_username: newName })

test('a name that was given up is kept from others for as long as the site says', async () => {
  const owner = await service.createUser('known')
  const taker = await service.createUser('taker')
  expect((await rename('known', 'renamed')).status).toBe(204)
  const person = { username: 'KNOWN', email: 'new@example.com', password: 'long enough 1' }
  expect((await service.admin.client.post('/admin/users', person)).status).toBe(422)
  expect((await rename('taker', 'known')).status).toBe(422)
  expect((await taker.client.post('/orgs', { username: 'known' })).status).toBe(422)
  expect((await taker.client.get('/users/known')).status).toBe(307)
  expect((await rename('renamed', 'known')).status).toBe(204)
  expect((await rename('known', 'renamed')).status).toBe(204)
  clock.time += 31 * 86_400_000
  expect((await rename('taker', 'known')).status).toBe(204)
  expect((await owner.client.get('/users/known')).string('login')).toBe('known')
})
