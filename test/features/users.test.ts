import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  const { client } = service.admin
  const account = { password: 'long enough 1', must_change_password: false }
  await client.post('/admin/users', {
    ...account,
    username: 'limited',
    email: 'lim@example.com',
    visibility: 'limited',
  })
  await client.post('/admin/users', { ...account, username: 'hidden', email: 'hid@example.com', visibility: 'private' })
})
afterAll(() => service.stop())

const logins = (body: unknown) => JSON.stringify(body).match(/(?<="login":")[^"]+/g) ?? []

test('a search finds by name, full name and address only whom the caller may know of', async () => {
  const everybody = await service.admin.client.get('/users/search')
  expect(logins(everybody.body)).toEqual(['alice', 'hidden', 'limited', 'root-admin'])
  expect(logins((await alice.client.get('/users/search')).body)).toEqual(['alice', 'limited', 'root-admin'])
  const visitor = await service.anonymous.get('/users/search')
  expect(logins(visitor.body)).toEqual(['alice', 'root-admin'])
  expect(visitor.headers.get('x-total-count')).toBe('2')
  expect(logins((await alice.client.get('/users/search', { q: 'LIM@EXAMPLE' })).body)).toEqual(['limited'])
  expect(logins((await service.anonymous.get('/users/search', { q: 'alice@' })).body)).toEqual([])
  expect(logins((await alice.client.get('/users/search', { q: '%' })).body)).toEqual([])
})

test('a hidden user reads like one that does not exist', async () => {
  for (const client of [service.anonymous, alice.client]) {
    const hidden = await client.get('/users/hidden')
    const absent = await client.get('/users/absent')
    expect(hidden.status).toBe(404)
    const neutral = (text: string, name: string) => text.replaceAll(name, '?').replace(/"request_id":"[^"]+"/, '')
    expect(neutral(hidden.text, 'hidden')).toBe(neutral(absent.text, 'absent'))
  }
})

test('visitors never see an address', async () => {
  expect((await service.anonymous.get('/users/alice')).text).not.toContain('alice@localhost.localdomain')
  expect((await alice.client.get('/user')).string('email')).toBe('alice@localhost.localdomain')
})
