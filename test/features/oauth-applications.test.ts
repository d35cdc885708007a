import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

const PATH = '/user/applications/oauth2'
const BUILT_IN = 'a4792ccc-144e-407e-86c9-5e7d8d9c3269'
const option = { name: 'Wiki', redirect_uris: ['https://wiki.example/cb'], confidential_client: true }

let service: TestService
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
})
afterAll(() => service.stop())

const make = async (owner = alice, more: object = {}) => {
  const made = await owner.client.post(PATH, { ...option, ...more })
  expect(made.status).toBe(201)
  return made
}

/** A client of alice with these scopes. */
async function limited(...scopes: string[]) {
  const password = service.client({ basic: `alice:${alice.password}` })
  const made = await password.post('/users/alice/tokens', { name: scopes.join(), scopes })
  return service.client({ token: made.string('sha1') })
}

test('a new application shows its secret once, and the database holds none', async () => {
  const made = await make()
  expect(made.body).toEqual({
    id: made.number('id'),
    name: 'Wiki',
    client_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    client_secret: expect.stringMatching(/^gto_[a-z2-7]{52}$/),
    confidential_client: true,
    skip_secondary_authorization: false,
    redirect_uris: ['https://wiki.example/cb'],
    created: expect.any(String),
  })
  const one = await alice.client.get(`${PATH}/${made.number('id')}`)
  expect(one.body).toMatchObject({ client_id: made.string('client_id'), client_secret: '' })
  const rows = await service.context.sql`
    select oauth_applications::text as row from oauth_applications
    union all select changes::text from audit_entries where action like 'oauth%'`
  expect(JSON.stringify(rows)).not.toContain(made.string('client_secret').slice(4))
})

test('a public client is the default and has a secret too; names may be used twice', async () => {
  const { redirect_uris } = option
  const first = await alice.client.post(PATH, { name: 'twice', redirect_uris })
  const second = await alice.client.post(PATH, { name: 'twice', redirect_uris })
  expect(first.body).toMatchObject({ confidential_client: false })
  expect(second.status).toBe(201)
  expect(first.string('client_secret')).toStartWith('gto_')
})

test('applications are listed newest first, in pages, each person seeing their own', async () => {
  const carol = await service.createUser()
  const ids = []
  for (const name of ['a', 'b', 'c']) ids.unshift((await make(carol, { name })).number('id'))
  const list = await carol.client.get(PATH, { limit: 2 })
  expect(list.body).toMatchObject([
    { id: ids[0], client_secret: '' },
    { id: ids[1], client_secret: '' },
  ])
  expect(list.headers.get('x-total-count')).toBe('3')
  expect(list.headers.get('link')).toContain('rel="next"')
})

test('every edit makes a new secret', async () => {
  const made = await make()
  const id = made.number('id')
  const changed = await alice.client.patch(`${PATH}/${id}`, { ...option, name: 'Notes', confidential_client: false })
  expect(changed.status).toBe(200)
  expect(changed.body).toMatchObject({
    id,
    name: 'Notes',
    confidential_client: false,
    client_id: made.string('client_id'),
  })
  expect(changed.string('client_secret')).toStartWith('gto_')
  expect(changed.string('client_secret')).not.toBe(made.string('client_secret'))
})

test('an application that was deleted is gone', async () => {
  const id = (await make()).number('id')
  expect((await alice.client.delete(`${PATH}/${id}`)).status).toBe(204)
  expect((await alice.client.get(`${PATH}/${id}`)).status).toBe(404)
  expect((await alice.client.delete(`${PATH}/${id}`)).status).toBe(404)
})

test.each([
  ['no name', { name: undefined }, '[Name]: Required'],
  ['no addresses', { redirect_uris: undefined }, '[RedirectURIs]: Required'],
  ['an empty list of addresses', { redirect_uris: [] }, '[RedirectURIs]: '],
  ['a name of 256 characters', { name: 'x'.repeat(256) }, '[Name]: '],
  ...[
    'javascript:alert(1)',
    'data:text/html,x',
    'not a url',
    'https://',
    'https:///cb',
    'https:app.example',
    '/cb',
    '//app.example/cb',
    'https://app.example/cb#part',
    'https://me:secret@app.example/cb',
    'https://app.example\\@evil.example/',
    'https://*.example/cb',
    'https://app.example/ü',
    'https://app.example/\ncb',
    'myapp:/cb',
    `https://app.example/${'x'.repeat(2048)}`,
  ].map((uri): [string, object, string] => [
    `the address ${uri.slice(0, 60)}`,
    { redirect_uris: [uri] },
    '[RedirectURIs]: ',
  ]),
])('an application with %s is refused', async (_, wrong, message) => {
  const id = (await make()).number('id')
  const before = await alice.client.get(`${PATH}/${id}`)
  for (const answer of [
    await alice.client.post(PATH, { ...option, ...wrong }),
    await alice.client.patch(`${PATH}/${id}`, { ...option, ...wrong }),
  ]) {
    expect(answer.status).toBe(422)
    expect(answer.string('message')).toStartWith(message)
  }
  expect((await alice.client.get(`${PATH}/${id}`)).body).toEqual(before.body)
})

test('addresses of apps and of this machine are taken', async () => {
  const redirect_uris = [
    'org.example.app:/cb',
    'http://127.0.0.1',
    'http://[::1]:8080/cb',
    'https://app.example/cb?a=b',
  ]
  expect((await make(alice, { redirect_uris })).body).toMatchObject({ redirect_uris })
})

test('a body without a media type is refused', async () => {
  const answer = await alice.client.request(PATH, { method: 'POST', body: new Blob(['{}']) })
  expect(answer.status).toBe(422)
  expect(answer.string('message')).toBe('[]: Empty Content-Type')
})

test('nobody reaches the application of somebody else, not even an administrator', async () => {
  const id = (await make()).number('id')
  const places = [`${PATH}/${id}`, `${PATH}/999999`, `${PATH}/x`]
  for (const { client } of [bob, service.admin])
    for (const place of places) {
      expect((await client.get(place)).status).toBe(404)
      expect((await client.patch(place, option)).status).toBe(404)
      expect((await client.delete(place)).status).toBe(404)
    }
  expect((await alice.client.get(`${PATH}/${id}`)).status).toBe(200)
})

test('without a login it is 401, and scopes count', async () => {
  for (const path of [PATH, `${PATH}/1`]) expect((await service.anonymous.get(path)).status).toBe(401)
  const refused = await service.anonymous.post(PATH, { name: 5 })
  expect(refused.status).toBe(401)
  expect(refused.string('message')).toBe('token is required')
  const reader = await limited('read:user')
  expect((await reader.get(PATH)).status).toBe(200)
  const denied = await reader.post(PATH, option)
  expect(denied.status).toBe(403)
  expect(denied.string('message')).toBe(
    'token does not have at least one of required scope(s), required=[write:user], token scope=read:user',
  )
  expect((await (await limited('write:application')).post(PATH, option)).status).toBe(201)
  expect((await (await limited('write:repository')).get(PATH)).status).toBe(403)
  expect((await (await limited('public-only', 'write:user')).get(PATH)).status).toBe(403)
})

test('only an administrator may skip consent', async () => {
  const skipping = { ...option, skip_secondary_authorization: true }
  expect((await alice.client.post(PATH, skipping)).status).toBe(403)
  const id = (await make()).number('id')
  expect((await alice.client.patch(`${PATH}/${id}`, skipping)).status).toBe(403)
  const made = await service.admin.client.post(PATH, skipping)
  expect(made.body).toMatchObject({ skip_secondary_authorization: true })
})

test('there are as many as MAX_OWNED allows', async () => {
  const { context } = service
  const few = await startTestService({ settings: { MAX_OWNED: '2', OAUTH2_DEFAULT_APPLICATIONS: 'tea' } })
  try {
    const statuses = []
    for (const name of ['a', 'b', 'c']) statuses.push((await few.admin.client.post(PATH, { ...option, name })).status)
    expect(statuses).toEqual([201, 201, 422])
    const names = await few.context.sql`select name from oauth_applications where owner_id is null`
    expect(names.map(({ name }) => name)).toEqual(['tea'])
  } finally {
    await few.stop()
  }
  expect(context.config.maxOwned).toBeGreaterThan(2)
})

test('the built-in applications are there, and locked', async () => {
  const rows = await service.context.sql<{ id: number; clientId: string }[]>`
    select id::int, client_id as "clientId" from oauth_applications where owner_id is null order by client_id`
  expect(rows.map(({ clientId }) => clientId)).toEqual([
    BUILT_IN,
    'd57cb8c4-630c-4168-8324-ec79935e18d4',
    'e90ee53c-94e2-48ac-9358-a874fb9e0662',
  ])
  const place = `${PATH}/${rows[0]?.id}`
  expect((await service.admin.client.get(place)).status).toBe(404)
  expect((await service.admin.client.delete(place)).status).toBe(403)
  expect((await service.admin.client.patch(place, option)).status).toBe(403)
})

test('what was registered, changed and deleted is in the audit trail', async () => {
  const id = (await make(bob, { name: 'Traced' })).number('id')
  await bob.client.patch(`${PATH}/${id}`, { ...option, name: 'Renamed' })
  await bob.client.delete(`${PATH}/${id}`)
  const trail = await service.admin.client.get('/admin/audit', { subject: 'oauth_application', limit: 50 })
  expect(trail.text).toContain('Renamed')
  for (const action of ['create', 'new_secret', 'delete']) expect(trail.text).toContain(`oauth_application.${action}`)
})
