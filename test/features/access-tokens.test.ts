import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
})
afterAll(() => service.stop())

const withPassword = (user: TestUser) => service.client({ basic: `${user.name}:${user.password}` })
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

test('a new token shows its secret once, works at once, and is listed without it', async () => {
  const made = await withPassword(alice).post('/users/alice/tokens', {
    name: 'ci',
    scopes: ['write:user', 'read:user'],
    expires_at: '0001-01-01T00:00:00Z',
  })
  expect(made.status).toBe(201)
  const secret = made.string('sha1')
  expect(secret).toMatch(/^[0-9a-f]{40}$/)
  expect(made.body).toMatchObject({ token_last_eight: secret.slice(-8), scopes: ['write:user'], expires_at: null })
  expect((await service.client({ token: secret }).get('/user')).string('login')).toBe('alice')
  const list = await withPassword(alice).get('/users/alice/tokens')
  expect(list.text).not.toContain(secret)
  expect(list.body).toContainEqual(expect.objectContaining({ name: 'ci', sha1: '', scopes: ['write:user'] }))
  expect(list.headers.get('x-total-count')).toBe('2')
  expect((await withPassword(alice).delete('/users/alice/tokens/ci')).status).toBe(204)
  expect((await service.client({ token: secret }).get('/user')).status).toBe(401)
})

test('the database holds no secret', async () => {
  const made = await withPassword(alice).post('/users/alice/tokens', { name: 'hashed' })
  const rows = await service.context.sql`select access_tokens::text as row from access_tokens`
  expect(JSON.stringify(rows)).not.toContain(made.string('sha1'))
})

test('a token from a bare name has no scopes', async () => {
  const made = await withPassword(alice).post('/users/alice/tokens', { name: 'bare' })
  expect(made.body).toMatchObject({ scopes: [], repositories: null })
  const bare = service.client({ token: made.string('sha1') })
  expect((await bare.get('/users/bob')).status).toBe(200)
  expect((await bare.get('/users/alice/tokens')).status).toBe(401)
})

test('a token with an end is refused after it', async () => {
  const made = await withPassword(bob).post('/users/bob/tokens', {
    name: 'short',
    scopes: ['all'],
    expires_at: inDays(1),
  })
  expect(made.status).toBe(201)
  const client = service.client({ token: made.string('sha1') })
  expect((await client.get('/user')).status).toBe(200)
  await service.context.sql`update access_tokens set expires_at = now() where name = 'short'`
  expect((await client.get('/user')).status).toBe(401)
})

test.each([
  ['a name in use', { name: 'twice', scopes: ['all'] }, 400],
  ['an unknown scope', { name: 'x', scopes: ['no:such'] }, 400],
  ['no name', { scopes: ['all'] }, 422],
  ['an empty name', { name: '' }, 422],
  ['a name of 256 characters', { name: 'x'.repeat(256) }, 422],
  ['a name that is no text', { name: 5 }, 422],
  ['an end in the past', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }, 422],
  ['an end that is no time', { name: 'x', expires_at: 'tomorrow' }, 422],
  ['a repository that is not there', { name: 'x', repositories: [{ owner: 'bob', name: 'nothing' }] }, 404],
])('creation with %s is refused', async (_, option, status) => {
  await withPassword(bob).post('/users/bob/tokens', { name: 'twice', scopes: ['all'] })
  expect((await withPassword(bob).post('/users/bob/tokens', option)).status).toBe(status)
})

test('only a password mints, lists and deletes tokens, in whatever form a token comes', async () => {
  const forms = [
    { token: alice.token },
    { basic: `${alice.token}:x-oauth-basic` },
    { basic: `${alice.token}:` },
    { basic: `alice:${alice.token}` },
  ]
  for (const form of forms) {
    const client = service.client(form)
    expect((await client.post('/users/alice/tokens', { name: 'minted', scopes: ['all'] })).status).toBe(401)
    expect((await client.get('/users/alice/tokens')).status).toBe(401)
    expect((await client.delete('/users/alice/tokens/1')).status).toBe(401)
  }
  expect((await service.anonymous.post('/users/alice/tokens', { name: 'minted' })).status).toBe(403)
  const admin = withPassword(service.admin)
  const sudo = await admin.request('/users/alice/tokens?sudo=alice', { method: 'POST', json: { name: 'minted' } })
  expect(sudo.status).toBe(403)
})

test('other people get 403 whatever the body, an administrator may', async () => {
  const other = withPassword(bob)
  expect((await other.post('/users/alice/tokens', { name: 5 })).status).toBe(403)
  expect((await other.get('/users/alice/tokens')).status).toBe(403)
  expect((await other.delete('/users/alice/tokens/1')).status).toBe(403)
  expect((await other.get('/users/nobody/tokens')).status).toBe(404)
  const made = await withPassword(service.admin).post('/users/alice/tokens', { name: 'given', scopes: ['read:user'] })
  expect((await service.client({ token: made.string('sha1') }).get('/user')).string('login')).toBe('alice')
})

test('the id of another person’s token deletes nothing', async () => {
  const made = await withPassword(alice).post('/users/alice/tokens', { name: 'mine' })
  expect((await withPassword(bob).delete(`/users/bob/tokens/${made.number('id')}`)).status).toBe(404)
  expect((await withPassword(alice).delete(`/users/alice/tokens/${made.number('id')}`)).status).toBe(204)
})

test('nobody makes a token or a key for an organization, not even an administrator', async () => {
  expect((await alice.client.post('/orgs', { username: 'the-org' })).status).toBe(201)
  const admin = withPassword(service.admin)
  expect((await admin.post('/users/the-org/tokens', { name: 'org', scopes: ['all'] })).status).toBe(404)
  const key = `ssh-ed25519 ${Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 32]), Buffer.alloc(32, 1)]).toString('base64')}`
  expect((await admin.post('/admin/users/the-org/keys', { title: 'org', key })).status).toBe(422)
})
