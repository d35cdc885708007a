import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
let carol: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  carol = await service.createUser('carol')
})
afterAll(() => service.stop())

const logins = (body: unknown) => JSON.stringify(body).match(/(?<="login":")[^"]+/g) ?? []

test('who follows is listed and counted, also after following twice and after an account is deleted', async () => {
  for (const user of [alice, alice, carol]) expect((await user.client.put('/user/following/bob')).status).toBe(204)
  expect((await alice.client.get('/user/following/bob')).status).toBe(204)
  expect((await alice.client.get('/users/carol/following/bob')).status).toBe(204)
  expect((await bob.client.get('/users/carol/following/alice')).status).toBe(404)
  const followers = await bob.client.get('/user/followers')
  expect(logins(followers.body)).toEqual(['carol', 'alice'])
  expect(followers.headers.get('x-total-count')).toBe('2')
  expect((await bob.client.get('/user')).number('followers_count')).toBe(2)
  expect((await alice.client.get('/user')).number('following_count')).toBe(1)
  expect((await service.admin.client.delete('/admin/users/carol')).status).toBe(204)
  expect((await bob.client.get('/user')).number('followers_count')).toBe(1)
  expect((await alice.client.delete('/user/following/bob')).status).toBe(204)
  expect((await alice.client.get('/user/following/bob')).status).toBe(404)
  expect((await bob.client.get('/user')).number('followers_count')).toBe(0)
})

test('following oneself changes nothing, an unknown user is not found', async () => {
  expect((await alice.client.put('/user/following/alice')).status).toBe(204)
  expect((await alice.client.get('/user')).number('followers_count')).toBe(0)
  expect((await alice.client.put('/user/following/nobody')).status).toBe(404)
  expect((await service.anonymous.put('/user/following/bob')).status).toBe(401)
  expect((await service.anonymous.get('/users/bob/followers')).status).toBe(401)
})

test('hidden followers are neither listed nor counted in the total', async () => {
  const dave = await service.createUser('dave')
  await dave.client.put('/user/following/bob')
  await service.admin.client.patch('/admin/users/dave', { login_name: 'dave', visibility: 'private' })
  const seen = await alice.client.get('/users/bob/followers')
  expect(seen.body).toEqual([])
  expect(seen.headers.get('x-total-count')).toBe('0')
  expect(logins((await service.admin.client.get('/users/bob/followers')).body)).toEqual(['dave'])
})

test('blocking ends what binds two people, and keeps it so', async () => {
  await alice.client.put('/user/following/bob')
  await bob.client.put('/user/following/alice')
  expect((await bob.client.request('/user/blocks/alice?note=spam', { method: 'PUT' })).status).toBe(204)
  expect((await bob.client.get('/user/blocks/alice')).status).toBe(204)
  expect(logins((await bob.client.get('/user/blocks')).body)).toEqual(['alice'])
  expect((await bob.client.get('/user')).body).toMatchObject({ following_count: 0 })
  expect((await alice.client.get('/user')).body).toMatchObject({ following_count: 0 })
  expect((await alice.client.put('/user/following/bob')).status).toBe(403)
  expect((await bob.client.delete('/user/blocks/alice')).status).toBe(204)
  expect((await bob.client.delete('/user/blocks/alice')).status).toBe(404)
  expect((await bob.client.get('/user/blocks/alice')).status).toBe(404)
  expect((await alice.client.put('/user/following/bob')).status).toBe(204)
})

test('nobody blocks themself, an unknown user or with a note without end', async () => {
  expect((await bob.client.put('/user/blocks/bob')).status).toBe(400)
  expect((await bob.client.put('/user/blocks/nobody')).status).toBe(404)
  const note = 'x'.repeat(1001)
  expect((await bob.client.request(`/user/blocks/alice?note=${note}`, { method: 'PUT' })).status).toBe(422)
  expect((await service.anonymous.get('/user/blocks')).status).toBe(401)
})
