import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
})
afterAll(() => service.stop())

test('settings are changed one by one', async () => {
  const first = await alice.client.patch('/user/settings', { full_name: 'Alice', website: 'https://example.com' })
  expect(first.body).toMatchObject({ full_name: 'Alice', website: 'https://example.com', hide_email: false })
  const slanted = 'http:\\\\example.com'
  expect((await alice.client.patch('/user/settings', { website: slanted })).string('website')).toBe(slanted)
  expect((await alice.client.patch('/user/settings', { website: 'http:\\\\a:b@example.com' })).status).toBe(422)
  expect((await alice.client.get('/user/settings')).string('theme')).toBe('gitea-auto')
  expect((await alice.client.patch('/user/settings', { theme: 'arc' })).string('theme')).toBe('arc')
  expect((await alice.client.patch('/user/settings', { theme: '' })).string('theme')).toBe('arc')
  const second = await alice.client.patch('/user/settings', {
    hide_email: true,
    diff_view_style: 'split',
    language: 'de-DE',
  })
  expect(second.body).toMatchObject({
    full_name: 'Alice',
    hide_email: true,
    diff_view_style: 'split',
    language: 'de-DE',
  })
  expect((await alice.client.get('/user/settings')).body).toEqual(second.body)
  expect((await alice.client.patch('/user/settings', { language: 'de_de' })).string('language')).toBe('de_de')
})

test('a hidden address is shown to nobody but its owner and administrators', async () => {
  const other = await service.createUser()
  expect((await other.client.get('/users/alice')).text).not.toContain('alice@localhost.localdomain')
  expect((await other.client.get('/users/search', { q: 'alice@localhost' })).text).not.toContain('"alice"')
  expect((await alice.client.get('/user')).string('email')).toBe('alice@localhost.localdomain')
  expect((await service.admin.client.get('/users/alice')).string('email')).toBe('alice@localhost.localdomain')
})

test.each([
  ['a website without a scheme', { website: 'example.com' }],
  ['a script for a website', { website: 'javascript:alert(1)' }],
  ['an unknown style', { diff_view_style: 'sideways' }],
  ['a language that is none', { language: '../etc' }],
  ['a theme that is a path', { theme: '../../x' }],
  ['a long location', { location: 'x'.repeat(51) }],
  ['NUL in a text', { description: 'a\0b' }],
])('%s is refused', async (_, change) => {
  expect((await alice.client.patch('/user/settings', change)).status).toBe(422)
})

test('keys that are not settings change nothing', async () => {
  const body =
    '{"is_admin":true,"admin":true,"id":1,"visibility":"private","__proto__":{"is_admin":true},"full_name":"A"}'
  const headers = { 'content-type': 'application/json' }
  expect((await alice.client.request('/user/settings', { method: 'PATCH', body, headers })).status).toBe(200)
  expect((await alice.client.get('/user')).body).toMatchObject({
    is_admin: false,
    visibility: 'public',
    full_name: 'A',
  })
  expect(Reflect.get({}, 'is_admin')).toBeUndefined()
})

test('visitors and tokens for public things have no settings', async () => {
  expect((await service.anonymous.patch('/user/settings', { full_name: 5 })).status).toBe(401)
  const basic = service.client({ basic: `alice:${alice.password}` })
  const made = await basic.post('/users/alice/tokens', { name: 'public', scopes: ['public-only', 'all'] })
  expect((await service.client({ token: made.string('sha1') }).get('/user/settings')).status).toBe(403)
})

test('badges are defined, given and taken by administrators', async () => {
  const { client } = service.admin
  expect((await client.post('/admin/badges', { slug: 'hero', image_url: 'javascript:x' })).status).toBe(422)
  expect((await client.post('/admin/badges', { slug: 'hero', description: 'Saved us' })).status).toBe(201)
  expect((await client.post('/admin/badges', { slug: 'hero' })).status).toBe(409)
  expect((await client.post('/admin/users/alice/badges', { badge_slugs: ['hero', 'no-such'] })).status).toBe(404)
  expect((await client.get('/admin/users/alice/badges')).body).toEqual([])
  expect((await client.post('/admin/users/alice/badges', { badge_slugs: ['hero'] })).status).toBe(204)
  expect((await client.get('/admin/users/alice/badges')).body).toMatchObject([
    { slug: 'hero', description: 'Saved us' },
  ])
  expect((await client.patch('/admin/badges/hero', { description: 'Twice' })).string('description')).toBe('Twice')
  expect((await client.delete('/admin/users/alice/badges', { badge_slugs: ['hero', 'no-such'] })).status).toBe(204)
  expect((await client.delete('/admin/badges/hero')).status).toBe(204)
  expect((await client.delete('/admin/badges/hero')).status).toBe(404)
  expect((await alice.client.get('/admin/badges')).status).toBe(403)
})

test('the heatmap counts only what the reader may see', async () => {
  const repository = await service.createRepository(alice, { private: true })
  const open = await service.createRepository(alice)
  const [me] = await service.context.sql`select id from users where name = 'alice'`
  for (const [eventId, id] of [
    [900_001, repository.id],
    [900_002, open.id],
  ])
    await service.context.sql`insert into activities (event_id, actor_id, owner_id, repository_id, op_type)
      values (${eventId ?? 0}, ${me?.id}, ${me?.id}, ${id ?? 0}, 'create_issue') on conflict do nothing`
  const sum = (body: unknown) =>
    (JSON.stringify(body).match(/(?<="contributions":)\d+/g) ?? []).reduce((all, one) => all + Number(one), 0)
  const all = sum((await alice.client.get('/users/alice/heatmap')).body)
  expect(sum((await service.anonymous.get('/users/alice/heatmap')).body)).toBeLessThan(all)
  await alice.client.patch('/user/settings', { hide_activity: true })
  expect((await service.anonymous.get('/users/alice/heatmap')).body).toEqual([])
  expect(sum((await alice.client.get('/users/alice/heatmap')).body)).toBe(all)
})
