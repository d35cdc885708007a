import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const person = (name: string, more: object = {}) => ({
  username: name,
  email: `${name}@example.com`,
  password: 'long enough 1',
  ...more,
})

test('a created user has what was asked for and must change the password', async () => {
  const option = { full_name: 'Full Name', restricted: true, visibility: 'private', created_at: '2020-02-03T04:05:06Z' }
  const made = await service.admin.client.post('/admin/users', person('full', option))
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    login: 'full',
    email: 'full@example.com',
    full_name: 'Full Name',
    restricted: true,
    active: true,
    visibility: 'private',
    created: '2020-02-03T04:05:06Z',
  })
  const basic = await service.client({ basic: 'full:long enough 1' }).get('/user')
  expect(basic.status).toBe(403)
  expect(basic.string('message')).toContain('You must change your password')
})

test.each([
  ['a taken name in other case', person('TAKEN', { email: 'other@example.com' }), 422],
  ['a taken address in other case', person('other', { email: 'Taken@Example.com' }), 422],
  ['no name', { email: 'a@example.com', password: 'long enough 1' }, 422],
  ['no address', { username: 'abc', password: 'long enough 1' }, 422],
  ['no password', { username: 'abc', email: 'abc@example.com' }, 400],
  ['a short password', person('abc', { password: 'short' }), 400],
  ['a password of 1 MB', person('abc', { password: 'x'.repeat(1_000_000) }), 422],
  ['a name with a blank', person('abc', { username: 'a b' }), 422],
  ['a reserved name', person('abc', { username: 'api' }), 422],
  ['a reserved ending', person('abc', { username: 'abc.keys' }), 422],
  ['a name of 41 characters', person('abc', { username: 'n'.repeat(41) }), 422],
  ['a homoglyph', person('abc', { username: 'аlice' }), 422],
  ['a bad address', person('abc', { email: 'not-an-address' }), 422],
  ['an address with a line break', person('abc', { email: 'a@example.com\r\nBcc: b@example.com' }), 422],
  ['an unknown visibility', person('abc', { visibility: 'secret' }), 422],
  ['an unknown login source', person('abc', { source_id: 99 }), 422],
])('creation with %s is refused and leaves nothing', async (_, option, status) => {
  await service.admin.client.post('/admin/users', person('taken'))
  const before = await service.context.sql`select count(*) from users`
  expect((await service.admin.client.post('/admin/users', option)).status).toBe(status)
  expect(await service.context.sql`select count(*) from users`).toEqual(before)
})

test('visitors get 401 and people 403, whatever the body', async () => {
  const user = await service.createUser()
  expect((await service.anonymous.post('/admin/users', { username: 5 })).status).toBe(401)
  expect((await user.client.post('/admin/users', { username: 5 })).status).toBe(403)
})
