import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
let chosen: TestRepository
let other: TestRepository
let open: TestRepository
beforeAll(async () => {
  service = await startTestService({ settings: { TOKEN_MAX_DAYS: '30' } })
  alice = await service.createUser('alice')
  chosen = await service.createRepository(alice, { name: 'chosen', private: true })
  other = await service.createRepository(alice, { name: 'other', private: true })
  open = await service.createRepository(alice, { name: 'open' })
})
afterAll(() => service.stop())

let counter = 0
async function mint(option: object, user = alice) {
  counter += 1
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const made = await basic.post(`/users/${user.name}/tokens`, { name: `token ${counter}`, ...option })
  expect(made.status).toBe(201)
  return { made, secret: made.string('sha1'), client: service.client({ token: made.string('sha1') }) }
}

test('a token for chosen repositories reaches these, reads public ones, and knows of no others', async () => {
  const { made, client, secret } = await mint({ scopes: ['all'], repositories: [{ owner: 'Alice', name: 'CHOSEN' }] })
  expect(made.body).toMatchObject({ repositories: [{ full_name: 'alice/chosen' }] })
  expect((await client.patch(chosen.path, { description: 'x' })).status).toBe(200)
  expect((await client.get(open.path)).status).toBe(200)
  expect((await client.patch(open.path, { description: 'x' })).status).toBe(403)
  expect((await client.get(other.path)).status).toBe(404)
  expect((await client.delete(other.path)).status).toBe(404)
  const listed = (await client.get('/user/repos')).text
  expect(listed).toContain('"alice/chosen"')
  expect(listed).not.toContain('"alice/other"')
  expect((await client.get('/repos/search')).headers.get('x-total-count')).toBe('2')
  const clone = (repository: TestRepository) => {
    const url = new URL(repository.cloneUrl)
    url.password = secret
    return fetch(`${service.url}${url.pathname}/info/refs?service=git-upload-pack`, {
      headers: { authorization: `Basic ${btoa(`alice:${secret}`)}` },
    })
  }
  expect((await clone(chosen)).status).toBe(200)
  expect((await clone(other)).status).not.toBe(200)
})

test('every answer tells when the token ends, and a site maximum ends all', async () => {
  const at = new Date(Date.now() + 3 * 86_400_000).toISOString().replace(/\.\d+/, '')
  const { client } = await mint({ scopes: ['all'], expires_at: at })
  for (const [path, status] of [
    ['/user', 200],
    ['/repos/alice/nothing', 404],
    ['/admin/users', 403],
  ] as const) {
    const answer = await client.get(path)
    expect([path, answer.status, answer.headers.get('x-token-expires-at')]).toEqual([path, status, at])
  }
  const { made } = await mint({ scopes: ['all'] })
  const days = (Date.parse(made.string('expires_at')) - Date.now()) / 86_400_000
  expect(Math.round(days)).toBe(30)
  const basic = service.client({ basic: `alice:${alice.password}` })
  const late = new Date(Date.now() + 31 * 86_400_000).toISOString()
  expect((await basic.post('/users/alice/tokens', { name: 'late', expires_at: late })).status).toBe(422)
})

test('the last use is recorded without a write for each request', async () => {
  const { client, made } = await mint({ scopes: ['all'] })
  const lastUse = async () => {
    const [row] = await service.context.sql`select last_used_at, xmin::text as version from access_tokens
      where id = ${made.number('id')}`
    return row
  }
  expect((await lastUse())?.last_used_at).toBeNull()
  await client.get('/user')
  const first = await lastUse()
  expect(first?.last_used_at).not.toBeNull()
  for (let turn = 0; turn < 5; turn += 1) await client.get('/user')
  expect(await lastUse()).toEqual(first)
})

test('a token that sees public things only is refused on what is personal, and shows no address', async () => {
  for (const option of [{ scopes: ['public-only', 'all'] }, {}]) {
    const { client } = await mint(option)
    expect((await client.get('/user')).text).not.toContain('alice@localhost.localdomain')
    for (const path of ['/user/settings', '/user/emails', '/user/keys', '/user/blocks', '/user/two_factor'])
      expect([path, (await client.get(path)).status]).toEqual([path, 403])
    expect((await client.get(chosen.path)).status).toBe(404)
    expect((await client.get('/repos/search')).headers.get('x-total-count')).toBe('1')
  }
})

test('an administrator’s token for public things administers nothing', async () => {
  const { client } = await mint({ scopes: ['public-only', 'all'] }, service.admin)
  expect((await client.get('/admin/users')).status).toBe(403)
  expect((await client.get(chosen.path)).status).toBe(404)
})

test.each([
  ['a prefix', (secret: string) => secret.slice(0, 39)],
  ['other letter case', (secret: string) => secret.toUpperCase()],
  ['a wildcard', () => '%'.repeat(40)],
  ['NUL at its end', (secret: string) => `${secret}%00`],
  ['1 MB', () => 'a'.repeat(7000)],
])('a token with %s is none', async (_, change) => {
  const { secret } = await mint({ scopes: ['all'] })
  const wrong = change(secret)
  if (wrong === secret) return
  expect((await service.client({ token: wrong }).get('/user')).status).toBe(401)
})

test('the token of an account that may not sign in opens nothing, Git included', async () => {
  const user = await service.createUser()
  const repository = await service.createRepository(user)
  const edit = (change: object) =>
    service.admin.client.patch(`/admin/users/${user.name}`, { login_name: user.name, ...change })
  for (const change of [
    { prohibit_login: true },
    { prohibit_login: false, active: false },
    { active: true, must_change_password: true },
  ]) {
    await edit(change)
    expect((await user.client.get('/version')).status).toBe(403)
    const { pathname } = new URL(repository.cloneUrl)
    const headers = { authorization: `Basic ${btoa(`${user.name}:${user.token}`)}` }
    expect((await fetch(`${service.url}${pathname}/info/refs?service=git-upload-pack`, { headers })).status).toBe(403)
  }
})

test('sudo: administrators with the scope only, and the token goes on limiting', async () => {
  const as = (client: TestUser['client'], name: string, path = '/user') => client.get(path, { sudo: name })
  expect((await as(service.admin.client, 'ALICE')).string('login')).toBe('alice')
  expect((await as(alice.client, 'alice')).status).toBe(403)
  expect((await as(service.anonymous, 'alice')).status).toBe(403)
  expect((await as(service.admin.client, 'nobody')).status).toBe(404)
  expect((await as(service.admin.client, 'alice', '/admin/users')).status).toBe(403)
  const { client: reader } = await mint({ scopes: ['read:user'] }, service.admin)
  expect((await as(reader, 'alice')).status).toBe(403)
  const { client: narrow } = await mint({ scopes: ['sudo', 'read:user'] }, service.admin)
  expect((await as(narrow, 'alice')).status).toBe(200)
  expect((await as(narrow, 'alice', chosen.path)).status).toBe(403)
  const both = (name: string) =>
    service.admin.client.request('/user', { query: { sudo: 'alice' }, headers: { sudo: name } })
  expect((await both('Alice')).string('login')).toBe('alice')
  expect((await both('root-admin')).status).toBe(403)
})

test.each(['constructor', '__proto__', 'hasOwnProperty', 'toString', 'write:admin,all', 'ALL', ''])(
  'the word %j is no scope',
  async (word) => {
    const basic = service.client({ basic: `alice:${alice.password}` })
    const json = { name: `odd ${word}`, scopes: ['read:user', word] }
    expect((await basic.post('/users/alice/tokens', json)).status).toBe(400)
  },
)

test('a double slash in the path hides no address from the throttle', async () => {
  for (let turn = 0; turn < 3; turn += 1)
    await fetch(`${service.url}/api//v1/user`, { headers: { authorization: `Basic ${btoa('nobody-here:x')}` } })
  const rows = await service.context.sql`select failures from login_failures where subject like 'address:%'`
  expect(rows.map((row) => Number(row.failures))).toEqual([3])
})

const WRONG = 'f'.repeat(40)

test('a token comes in every form that clients know', async () => {
  const { token, name } = alice
  const basic = (pair: string) => `Basic ${btoa(pair)}`
  const headers = [`Bearer ${token}`, `bearer ${token}`, `BEARER ${token}`, `Bearer   ${token} `]
  headers.push(`token ${token}`, `Token  ${token}`, basic(`${name}:${token}`), basic(`${token}:`))
  headers.push(basic(`${token}:x-oauth-basic`), basic(`x-access-token:${token}`).replace('Basic', 'basic'))
  for (const authorization of headers) {
    const answer = await service.anonymous.request('/user', { headers: { authorization } })
    expect([authorization, answer.status]).toEqual([authorization, 200])
    const git = await fetch(`${service.url}/${name}/chosen.git/info/refs?service=git-upload-pack`, {
      headers: { authorization },
    })
    expect([authorization, git.status]).toEqual([authorization, 200])
  }
  for (const key of ['token', 'access_token'])
    expect((await service.anonymous.get('/user', { [key]: token })).status).toBe(200)
})

test('a wrong token is refused in every form, and what is no credential is none', async () => {
  for (const authorization of [
    `Bearer ${WRONG}`,
    `bearer ${WRONG}`,
    `token ${WRONG}`,
    `Bearer x`,
    `Basic ${btoa(`${WRONG}:`)}`,
  ]) {
    const answer = await service.anonymous.request('/version', { headers: { authorization } })
    expect([authorization, answer.status]).toEqual([authorization, 401])
  }
  for (const authorization of [
    'Bearer',
    'Bearer ',
    `Bearer${WRONG}`,
    `Bearers ${WRONG}`,
    'token',
    `x ${WRONG}`,
    'Basic x',
    'Basic eA==',
  ])
    expect([
      authorization,
      (await service.anonymous.request('/version', { headers: { authorization } })).status,
    ]).toEqual([authorization, 200])
})

test('a token in the query goes before the header', async () => {
  const headers = { authorization: `Bearer ${alice.token}` }
  for (const key of ['token', 'access_token'])
    expect((await service.anonymous.request('/user', { headers, query: { [key]: WRONG } })).status).toBe(401)
  const empty = await service.anonymous.request('/user', { headers, query: { token: '' } })
  expect(empty.status).toBe(200)
})
