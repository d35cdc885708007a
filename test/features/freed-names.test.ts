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

test('so is the name of a deleted account, with those that it gave up before', async () => {
  const person = (username: string) => ({ username, email: `${username}@example.com`, password: 'long enough 1' })
  const claims = async (name: string) => (await service.admin.client.post('/admin/users', person(name))).status
  const member = await service.createUser('member')
  await service.createUser('former')
  expect((await rename('former', 'leaver')).status).toBe(204)
  clock.time += 20 * 86_400_000
  expect((await member.client.post('/orgs', { username: 'closed' })).status).toBe(201)
  expect((await member.client.delete('/orgs/closed')).status).toBe(204)
  expect((await service.admin.client.delete('/admin/users/leaver')).status).toBe(204)
  const purged = await service.createUser('purged')
  expect((await purged.client.post('/orgs', { username: 'sole' })).status).toBe(201)
  expect((await service.admin.client.delete('/admin/users/purged?purge=true')).status).toBe(204)
  for (const name of ['leaver', 'former', 'CLOSED', 'purged', 'sole'])
    expect([name, await claims(name)]).toEqual([name, 422])
  expect((await rename('member', 'leaver')).status).toBe(422)
  expect((await service.anonymous.get('/users/leaver')).status).toBe(404)
  clock.time += 11 * 86_400_000
  expect([await claims('former'), await claims('leaver')]).toEqual([201, 422])
  clock.time += 20 * 86_400_000
  await service.admin.client.post('/admin/cron/delete_freed_names')
  await service.drain()
  expect(await service.context.sql`select 1 from freed_names`).toHaveLength(0)
  for (const name of ['leaver', 'closed', 'purged']) expect([name, await claims(name)]).toEqual([name, 201])
})

test('a site without the setting keeps no names', async () => {
  const free = await startTestService()
  const user = await free.createUser('gone')
  expect((await free.admin.client.delete(`/admin/users/${user.name}`)).status).toBe(204)
  expect(await free.context.sql`select 1 from freed_names`).toHaveLength(0)
  await free.createUser('gone')
  await free.stop()
})
