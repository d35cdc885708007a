import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { storagePath } from '../../src/git/storage.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
})
afterAll(() => service.stop())

const edit = (name: string, change: object) =>
  service.admin.client.patch(`/admin/users/${name}`, { login_name: name, ...change })
const rename = (name: string, newName: unknown) =>
  service.admin.client.post(`/admin/users/${name}/rename`, { new_username: newName })

test('an edited user has what was sent, and keeps what was not', async () => {
  const profile = { full_name: 'Alice A', website: 'https://example.com/a', location: 'Here', description: 'about' }
  expect((await edit('alice', profile)).body).toMatchObject(profile)
  const changed = await edit('alice', { email: 'New@example.com', restricted: true, max_repo_creation: 0 })
  expect(changed.body).toMatchObject({ ...profile, email: 'New@example.com', restricted: true })
  expect((await alice.client.get('/user/emails')).body).toMatchObject([{ email: 'New@example.com', primary: true }])
  await edit('alice', { restricted: false, max_repo_creation: -1 })
})

test.each([
  ['no login name', { login_name: undefined, full_name: 'x' }, 422],
  ['a bad address', { email: 'nope' }, 400],
  ['an empty address', { email: '' }, 400],
  ['a short password', { password: 'a' }, 400],
  ['an unknown source', { source_id: 7 }, 422],
  ['an unknown visibility', { visibility: 'x' }, 422],
  ['a website that is none', { website: 'not a url' }, 422],
  ['a website with a script', { website: 'javascript:alert(1)' }, 422],
  ['a website with a password', { website: 'https://a:b@example.com' }, 422],
  ['a long full name', { full_name: 'n'.repeat(101) }, 422],
  ['a text for a switch', { active: 'yes' }, 422],
])('an edit with %s answers as Gitea does', async (_, change, status) => {
  expect((await edit('alice', change)).status).toBe(status)
})

test('the last administrator stays one', async () => {
  for (const change of [{ admin: false }, { active: false }, { prohibit_login: true }])
    expect((await edit('root-admin', change)).status).toBe(422)
  const second = await service.createUser()
  await edit(second.name, { admin: true })
  expect((await second.client.get('/admin/users')).status).toBe(200)
  expect((await edit('root-admin', { admin: false })).status).toBe(200)
  const back = await second.client.patch('/admin/users/root-admin', { login_name: 'root-admin', admin: true })
  expect(back.status).toBe(200)
  await edit(second.name, { admin: false })
  expect((await second.client.get('/admin/users')).status).toBe(403)
})

test('two administrators who dismiss each other at the same time leave one', async () => {
  const second = await service.createUser()
  await edit(second.name, { admin: true })
  const dismiss = (by: TestUser, name: string) =>
    by.client.patch(`/admin/users/${name}`, { login_name: name, admin: false })
  const both = await Promise.all([dismiss(service.admin, second.name), dismiss(second, 'root-admin')])
  expect(both.map(({ status }) => status).sort()).not.toEqual([200, 200])
  const [left] = await service.context.sql`select count(*)::int as number from users where is_admin`
  expect(left?.number).toBe(1)
  await service.context.sql`update users set is_admin = (name = 'root-admin')`
})

test('after a rename the old name leads on until somebody takes it', async () => {
  const user = await service.createUser('before')
  const repository = await service.createRepository(user, { name: 'r' })
  expect((await rename('before', 'after')).status).toBe(204)
  expect((await user.client.get('/user')).string('login')).toBe('after')
  const old = await alice.client.get('/users/before')
  expect([old.status, old.headers.get('location')]).toEqual([307, '/api/v1/users/after'])
  expect((await alice.client.get(`/repos/before/${repository.name}`)).status).toBe(307)
  expect((await alice.client.get(`/repos/after/${repository.name}`)).status).toBe(200)
  const taker = await service.createUser()
  expect((await rename(taker.name, 'before')).status).toBe(204)
  expect((await alice.client.get('/users/before')).string('login')).toBe('before')
  expect((await alice.client.get(`/repos/before/${repository.name}`)).status).toBe(404)
})

test('the old name of a hidden user leads a stranger nowhere', async () => {
  await service.createUser('hidden-before')
  await rename('hidden-before', 'hidden-after')
  await edit('hidden-after', { visibility: 'private' })
  const answer = await alice.client.get('/users/hidden-before')
  expect([answer.status, answer.headers.get('location')]).toEqual([404, null])
})

test.each([
  ['a taken name', 'ROOT-admin'],
  ['a reserved name', 'api'],
  ['a reserved ending', 'x.gpg'],
  ['a blank inside', 'bad name'],
  ['41 characters', 'n'.repeat(41)],
  ['nothing', ''],
  ['a number', 7],
])('a rename to %s is refused', async (_, name) => {
  expect((await rename('alice', name)).status).toBe(422)
  expect((await alice.client.get('/user')).string('login')).toBe('alice')
})

test('a rename to other letter case or the same name is fine', async () => {
  expect((await rename('alice', 'alice')).status).toBe(204)
  expect((await rename('alice', 'Alice')).status).toBe(204)
  expect((await rename('Alice', 'alice')).status).toBe(204)
})

test('a deleted user is gone with tokens, keys and name; an owner is not deleted without purge', async () => {
  const user = await service.createUser('leaver')
  const repository = await service.createRepository(user)
  const folder = join(service.context.config.repositoriesDir, storagePath(repository.id))
  expect(existsSync(folder)).toBe(true)
  const issue = await alice.client.post(`${repository.path}/issues`, { title: 'by alice' })
  expect(issue.status).toBe(201)
  expect((await service.admin.client.delete('/admin/users/leaver')).status).toBe(422)
  expect((await service.admin.client.request('/admin/users/leaver?purge=true', { method: 'DELETE' })).status).toBe(204)
  expect((await user.client.get('/user')).status).toBe(401)
  expect((await service.admin.client.get('/users/leaver')).status).toBe(404)
  expect((await service.admin.client.get(repository.path)).status).toBe(404)
  await service.drain()
  expect(existsSync(folder)).toBe(false)
  expect((await service.admin.client.delete('/admin/users/leaver')).status).toBe(404)
  await service.createUser('leaver')
})

test('what a deleted user wrote in other places belongs to the ghost', async () => {
  const writer = await service.createUser('writer')
  const repository = await service.createRepository(alice)
  await writer.client.post(`${repository.path}/issues`, { title: 'kept' })
  expect((await service.admin.client.delete('/admin/users/writer')).status).toBe(204)
  expect((await alice.client.get(`${repository.path}/issues/1`)).string('user.login')).toBe('Ghost')
})

test('purge takes the organizations that nobody else owns, and leaves the others', async () => {
  const owner = await service.createUser('org-owner')
  for (const name of ['alone', 'together']) await owner.client.post('/orgs', { username: name })
  const teams = await owner.client.get('/orgs/together/teams')
  expect((await owner.client.put(`/teams/${teams.number('0.id')}/members/alice`)).status).toBe(204)
  expect((await service.admin.client.delete('/admin/users/org-owner')).status).toBe(422)
  expect((await service.admin.client.request('/admin/users/org-owner?purge=true', { method: 'DELETE' })).status).toBe(
    204,
  )
  expect((await service.admin.client.get('/orgs/alone')).status).toBe(404)
  expect((await service.admin.client.get('/orgs/together')).status).toBe(200)
})

test('an organization is not renamed by the path for people', async () => {
  await service.admin.client.post('/orgs', { username: 'named-once' })
  const renamed = await service.admin.client.post('/admin/users/named-once/rename', { new_username: 'named-twice' })
  expect(renamed.status).toBe(422)
  expect((await service.admin.client.get('/orgs/named-once')).status).toBe(200)
})

test('nobody deletes themself or an organization here', async () => {
  await alice.client.post('/orgs', { username: 'some-org' })
  expect((await service.admin.client.delete('/admin/users/root-admin')).status).toBe(422)
  expect((await service.admin.client.delete('/admin/users/some-org')).status).toBe(422)
})

test.each(['patch', 'delete', 'post'] as const)('visitors get 401 and people 403 for %s', async (method) => {
  const path = method === 'post' ? '/admin/users/alice/rename' : '/admin/users/alice'
  expect((await service.anonymous[method](path, { login_name: 5 })).status).toBe(401)
  expect((await alice.client[method](path, { login_name: 5 })).status).toBe(403)
})

test('an administrator’s token without the scope is refused', async () => {
  const basic = service.client({ basic: `root-admin:${service.admin.password}` })
  const reader = await basic.post('/users/root-admin/tokens', { name: 'reader', scopes: ['read:admin'] })
  const client = service.client({ token: reader.string('sha1') })
  expect((await client.get('/admin/users')).status).toBe(200)
  expect((await client.patch('/admin/users/alice', { login_name: 'alice' })).status).toBe(403)
  const none = await basic.post('/users/root-admin/tokens', { name: 'none', scopes: ['write:user'] })
  expect((await service.client({ token: none.string('sha1') }).get('/admin/users')).status).toBe(403)
})
