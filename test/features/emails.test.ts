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

const emails = '/user/emails'

test('an added address is listed after the primary one and can be signed in with', async () => {
  const added = await alice.client.post(emails, { emails: ['Second@example.org'] })
  expect(added.status).toBe(201)
  expect(added.body).toEqual([
    { email: 'alice@localhost.localdomain', verified: true, primary: true, user_id: 0, username: '' },
    { email: 'Second@example.org', verified: true, primary: false, user_id: 0, username: '' },
  ])
  const basic = service.client({ basic: `second@EXAMPLE.org:${alice.password}` })
  expect((await basic.get('/user')).string('login')).toBe('alice')
  expect((await alice.client.delete(emails, { emails: ['SECOND@example.org'] })).status).toBe(204)
  expect((await basic.get('/user')).status).toBe(401)
})

test.each([
  ['none', []],
  ['one that is no address', ['no address']],
  ['one with a line break', ['a@example.com\nb']],
  ['one that somebody has', ['BOB@localhost.localdomain']],
  ['a good one and a bad one', ['fine@example.org', 'bad']],
])('adding %s is refused and adds nothing', async (_, list) => {
  expect((await alice.client.post(emails, { emails: list })).status).toBe(422)
  expect((await alice.client.get(emails)).body).toHaveLength(1)
})

test("an address of the service becomes nobody's, however it is written and whoever gives it", async () => {
  const id = (await bob.client.get('/user')).number('id')
  const forged = [
    `${id}+bob@noreply.localhost`,
    'bob@noreply.localhost',
    'BOB@NoReply.LocalHost',
    'alice@noreply.localhost',
    'hearth@noreply.localhost',
    'anything@noreply.localhost',
    'bob@noreply.localhost.',
  ]
  for (const email of forged) {
    expect([email, (await alice.client.post(emails, { emails: [email] })).status]).toEqual([email, 422])
    const account = { username: 'eve', password: 'correct horse 7', email }
    expect([email, (await service.admin.client.post('/admin/users', account)).status]).toEqual([email, 422])
    const edit = { login_name: 'alice', source_id: 0, email }
    expect([email, (await service.admin.client.patch('/admin/users/alice', edit)).status]).toEqual([email, 400])
  }
  expect((await alice.client.get(emails)).body).toHaveLength(1)
  expect((await alice.client.post(emails, { emails: ['bob@sub.noreply.localhost'] })).status).toBe(201)
  expect((await alice.client.delete(emails, { emails: ['bob@sub.noreply.localhost'] })).status).toBe(204)
})

test('the primary address and the address of somebody else cannot be deleted', async () => {
  expect((await alice.client.delete(emails, { emails: ['alice@localhost.localdomain'] })).status).toBe(422)
  expect((await alice.client.delete(emails, { emails: ['bob@localhost.localdomain'] })).status).toBe(404)
  expect((await bob.client.get(emails)).body).toHaveLength(1)
})

test('visitors and tokens for public things see no addresses', async () => {
  expect((await service.anonymous.get(emails)).status).toBe(401)
  const basic = service.client({ basic: `alice:${alice.password}` })
  const made = await basic.post('/users/alice/tokens', { name: 'bare' })
  expect((await service.client({ token: made.string('sha1') }).get(emails)).status).toBe(403)
  const classic = await basic.post('/users/alice/tokens', { name: 'classic', scopes: ['user:email'] })
  expect((await service.client({ token: classic.string('sha1') }).get(emails)).status).toBe(200)
})

test('an administrator searches the addresses of all', async () => {
  const found = await service.admin.client.get('/admin/emails/search', { q: 'BOB@' })
  expect(found.body).toMatchObject([{ email: 'bob@localhost.localdomain', username: 'bob' }])
  expect((await service.admin.client.get('/admin/emails/search', { q: 'b_b' })).body).toEqual([])
  expect((await service.admin.client.get('/admin/emails')).headers.get('x-total-count')).toBe('3')
  expect((await bob.client.get('/admin/emails')).status).toBe(403)
  expect((await service.anonymous.get('/admin/emails/search')).status).toBe(401)
})

test('a search finds addresses and names, each address once and in one order over all pages', async () => {
  const { sql } = service.context
  const people = [
    ['needle1', 'z@haystack.example'],
    ['needle2', 'needle@haystack.example'],
    ['other3', 'a-needle@haystack.example'],
    ['other4', 'nee_dle@haystack.example'],
  ] as const
  for (const [name, email] of people) {
    await sql`insert into users (name, email, kind) values (${name}, ${email}, 'user')`
    await sql`insert into emails (user_id, email, is_primary, is_activated) select id, email, true, true from users where name = ${name}`
  }
  const search = async (query: Record<string, string | number>) => {
    const { status, body, headers } = await service.admin.client.get('/admin/emails/search', query)
    const addresses = Array.isArray(body) ? body.map(({ email }) => String(email).split('@')[0]) : body
    return [status, addresses, headers.get('x-total-count')]
  }
  expect(await search({ q: 'Needle' })).toEqual([200, ['a-needle', 'needle', 'z'], '3'])
  const pages = [1, 2, 3, 4].map((page) => search({ q: 'needle', limit: 1, page }))
  expect((await Promise.all(pages)).map(([, found]) => found)).toEqual([['a-needle'], ['needle'], ['z'], []])
  expect(await search({ q: 'n%dle@' })).toEqual([200, ['a-needle', 'nee_dle', 'needle'], '3'])
  expect(await search({ q: 'nee_dle' })).toEqual([200, ['nee_dle'], '1'])
  expect(await search({ q: '\\' })).toEqual([200, [], '0'])
  const first = await service.admin.client.get('/admin/emails/search', { q: 'haystack', limit: 3 })
  expect(first.headers.get('x-total-count')).toBe('4')
})

test('of many changes of the primary address at once, with removals among them, each is whole', async () => {
  const user = await service.createUser()
  const more = Array.from({ length: 6 }, (_, index) => `${user.name}-${index}@example.org`)
  expect((await user.client.post(emails, { emails: more })).status).toBe(201)
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const answers = await Promise.all(
    more.flatMap((email) => [
      basic.post('/user/emails/primary', { email }),
      user.client.delete(emails, { emails: [email] }),
      service.admin.client.patch(`/admin/users/${user.name}`, { login_name: '', source_id: 0, email }),
    ]),
  )
  expect(answers.filter(({ status }) => ![200, 204, 404, 422].includes(status)).map(({ text }) => text)).toEqual([])
  const { body } = await user.client.get(emails)
  const rows: unknown[] = Array.isArray(body) ? body : []
  const primary = rows.filter((row) => Bun.deepMatch({ primary: true }, row))
  expect(primary).toMatchObject([{ email: (await user.client.get('/user')).string('email'), verified: true }])
})

test('of six who add or delete one address at once, one does, and nobody has more than may be', async () => {
  const people = await Promise.all(Array.from({ length: 6 }, () => service.createUser()))
  const added = await Promise.all(people.map(({ client }) => client.post(emails, { emails: ['raced@example.org'] })))
  expect(added.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422, 422])
  const many = await service.createUser()
  const list = (part: number) => Array.from({ length: 20 }, (_, index) => `part${part}n${index}@example.org`)
  const filled = await Promise.all(people.map((_, part) => many.client.post(emails, { emails: list(part) })))
  expect(filled.map(({ status }) => status).toSorted()).toEqual([201, 201, 422, 422, 422, 422])
  expect((await many.client.get(emails)).body).toHaveLength(41)
  const taken = list(filled.findIndex(({ status }) => status === 201))
  const deleted = await Promise.all(people.map(() => many.client.delete(emails, { emails: taken })))
  expect(deleted.map(({ status }) => status).toSorted()).toEqual([204, 404, 404, 404, 404, 404])
})
