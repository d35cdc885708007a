import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'
import {
  basicHeader,
  codeFor,
  exchange,
  newParty,
  newVerifier,
  type Party,
  readReply,
  refresh,
  register,
  sendForm,
  tokensFor,
  tokensIn,
} from './flow.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const api = (path: string, init: RequestInit = {}) => fetch(`${service.url}/api/v1${path}`, init)
const basic = (name: string, password: string) => ({ authorization: `Basic ${btoa(`${name}:${password}`)}` })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

test('the API takes an access token in every place (section 11)', async () => {
  const { access } = await tokensFor(await newParty(service), 'all')
  const headers = [
    ...['bearer', 'Bearer', 'BEARER', 'token', 'Bearer  '].map((word) => ({ authorization: `${word} ${access}` })),
    ...[basic(access, ''), basic(access, 'x-oauth-basic'), basic('anybody', access)],
  ]
  for (const header of headers) expect((await api('/user', { headers: header })).status).toBe(200)
  for (const name of ['token', 'access_token']) {
    expect((await api(`/user?${name}=${access}`)).status).toBe(200)
    const body = new URLSearchParams({ [name]: access, text: '*x*' })
    expect((await api('/markdown', { method: 'POST', body })).status).toBe(200)
    const repo = new URLSearchParams({ [name]: access, name: `by-${name.replace('_', '-')}` })
    expect((await api('/user/repos', { method: 'POST', body: repo })).status).toBe(201)
  }
  const bare = await api('/user', { headers: { authorization: access } })
  expect([bare.status, await bare.text()]).toEqual([401, expect.stringContaining('token is required')])
  expect((await api('/user?token=bad', { headers: bearer(access) })).status).toBe(401)
})

test('nothing else of OAuth is taken for an access token', async () => {
  const party = await newParty(service)
  const { access, refresh: renewal, body } = await tokensFor(party, 'openid all')
  const unsigned = `${btoa('{"alg":"none"}')}.${String(body.id_token).split('.')[1]}.`
  const changed = `${access.slice(0, -1)}${access.endsWith('a') ? 'b' : 'a'}`
  for (const token of [
    renewal,
    String(body.id_token),
    unsigned,
    changed,
    access.toUpperCase(),
    `${access}a`,
    party.app.secret,
  ]) {
    const answer = await api('/user', { headers: bearer(token) })
    // Wire: of anything but a token that once was one, Gitea's clients hear nothing more.
    const challenge = token === changed ? 'Bearer error="invalid_token"' : null
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge])
  }
})

/** Section 10: what each scope opens. Unknown words open nothing more. */
test.each<[string, number[]]>([
  ['all', [200, 200, 200, 200, 201, 403]],
  ['read:user', [200, 403, 403, 403, 403, 403]],
  ['read:user bogus', [200, 403, 403, 403, 403, 403]],
  ['read:user,write:repository', [200, 200, 403, 403, 403, 403]],
  ['write:repository', [403, 403, 403, 403, 403, 403]],
  ['public-only', [403, 403, 403, 403, 403, 403]],
  ['write:user write:repository', [200, 200, 403, 403, 201, 403]],
])('the scope %s', async (scope, statuses) => {
  const { access } = await tokensFor(await newParty(service), scope)
  const client = service.client({ token: access })
  const answers = [
    await client.get('/user'),
    await client.get('/user/repos'),
    await client.get('/user/orgs'),
    await client.get('/notifications'),
    await client.post('/user/repos', { name: 'made' }),
    await client.get('/admin/users'),
  ]
  expect(answers.map(({ status }) => status)).toEqual(statuses)
})

test('no scope, only claims, and words that mean nothing read what is public', async () => {
  const owner = await service.createUser()
  const open = await service.createRepository(owner)
  const closed = await service.createRepository(owner, { private: true })
  for (const scope of ['', 'openid profile email groups', 'bogus', 'sudo-not']) {
    const party = await newParty(service)
    const own = await service.createRepository(party.user, { private: true })
    const client = service.client({ token: (await tokensFor(party, scope)).access })
    expect((await client.get(`/users/${owner.name}`)).status).toBe(200)
    expect((await client.get(open.path)).status).toBe(200)
    for (const { path } of [closed, own]) expect((await client.get(path)).status).toBe(404)
    expect((await client.post('/user/repos', { name: 'made' })).status).toBe(403)
    expect((await client.get('/admin/users')).status).toBe(403)
  }
})

test('OAUTH2_EMPTY_SCOPE=all gives old clients everything, and says so', async () => {
  const lenient = await startTestService({ settings: { OAUTH2_EMPTY_SCOPE: 'all' } })
  try {
    const party = await newParty(lenient)
    for (const scope of ['', 'openid', 'bogus']) {
      const { access, body } = await tokensFor(party, scope)
      expect(body.scope).toContain('all')
      expect((await lenient.client({ token: access }).post('/user/repos', { name: `made-${scope}` })).status).toBe(201)
    }
    const { access } = await tokensFor(party, 'read:user bogus')
    expect((await lenient.client({ token: access }).post('/user/repos', { name: 'more' })).status).toBe(403)
  } finally {
    await lenient.stop()
  }
})

test('no token of an application makes personal tokens', async () => {
  const party = await newParty(service)
  const { access } = await tokensFor(party, 'all')
  const path = `/users/${party.user.name}/tokens`
  const made = await service.client({ token: access }).post(path, { name: 'x', scopes: ['all'] })
  expect([made.status, made.string('message')]).toEqual([401, 'auth required'])
})

test('Git over HTTP takes an access token, with its scopes, until it is taken back', async () => {
  const party = await newParty(service)
  const { user } = party
  const repo = await service.createRepository(user, { private: true, auto_init: true })
  const { access, refresh: renewal } = await tokensFor(party, 'write:repository')
  const info = (headers: Record<string, string>) =>
    fetch(`${service.url}/${repo.owner}/${repo.name}.git/info/refs?service=git-upload-pack`, { headers })
  for (const header of [
    basic('oauth2', access),
    basic(access, 'x-oauth-basic'),
    basic(user.name, access),
    bearer(access),
  ])
    expect((await info(header)).status).toBe(200)
  const url = new URL(`/${repo.owner}/${repo.name}.git`, service.url)
  url.username = 'oauth2'
  url.password = access
  const cwd = `${service.git.folder}/by-oauth`
  await service.git(['clone', '-q', url.href, 'by-oauth'])
  await service.git(['commit', '-q', '--allow-empty', '-m', 'more'], { cwd })
  await service.git(['push', '-q', 'origin', 'HEAD'], { cwd })
  const narrow = await tokensFor(party, 'read:user')
  expect((await info(basic('oauth2', narrow.access))).status).toBe(403)
  const nobody = await info({})
  expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('Basic realm="Gitea"'),
  ])
  await revoke(party, renewal)
  expect((await info(basic('oauth2', access))).status).toBe(401)
})

test('what ends a token (section 13): not a new password; a prohibited account is 403 everywhere', async () => {
  const party = await newParty(service)
  const { user } = party
  const repo = await service.createRepository(user, { private: true, auto_init: true })
  const { access, refresh: renewal } = await tokensFor(party, 'all')
  const edit = (change: object) =>
    service.admin.client.patch(`/admin/users/${user.name}`, { login_name: user.name, source_id: 0, ...change })
  await edit({ password: 'another horse battery', must_change_password: false })
  expect((await api('/user', { headers: bearer(access) })).status).toBe(200)
  const next = tokensIn(await refresh(party, renewal))
  const git = `${service.url}/${repo.owner}/${repo.name}.git/info/refs?service=git-upload-pack`
  const places = [`${service.url}/api/v1/user`, `${service.url}/login/oauth/userinfo`, git]
  const statuses = () =>
    Promise.all(places.map(async (url) => (await fetch(url, { headers: bearer(next.access) })).status))
  expect(await statuses()).toEqual([200, 200, 200])
  await service.context.sql`update users set must_change_password = true where name = ${user.name}`
  expect(await statuses()).toEqual([403, 403, 403])
  await service.context
    .sql`update users set must_change_password = false, prohibit_login = true where name = ${user.name}`
  expect(await statuses()).toEqual([403, 403, 403])
  const git403 = await fetch(git, { headers: bearer(next.access) })
  expect(git403.headers.get('content-type')).toStartWith('text/plain')
})

const revoke = ({ app }: Party, token: string, more: Record<string, string> = {}) =>
  sendForm(service.url, '/login/oauth/revoke', { client_id: app.clientId, client_secret: app.secret, token, ...more })

test('a refresh token that is revoked ends all its tokens, an access token alone', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party, 'all')
  expect(await revoke(party, first.access)).toMatchObject({ status: 200 })
  expect((await api('/user', { headers: bearer(first.access) })).status).toBe(401)
  const second = tokensIn(await refresh(party, first.refresh))
  expect(await revoke(party, first.refresh, { token_type_hint: 'nonsense' })).toMatchObject({ status: 200 })
  expect((await api('/user', { headers: bearer(second.access) })).status).toBe(401)
  expect((await refresh(party, second.refresh)).body.error).toBe('invalid_grant')
})

test('nobody revokes the token of another client, and nobody learns of it', async () => {
  const party = await newParty(service)
  const { access, refresh: renewal } = await tokensFor(party, 'all')
  const other = { ...party, app: await register(party.user, { name: 'Other' }) }
  for (const token of [access, renewal, 'unknown', `gtr_${'a'.repeat(104)}`])
    expect(await revoke(other, token)).toMatchObject({ status: 200, body: {} })
  expect((await api('/user', { headers: bearer(access) })).status).toBe(200)
  tokensIn(await refresh(party, renewal))
  expect(await revoke(other, '')).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  expect(await revoke(other, 'a.b.c')).toMatchObject({ status: 400, body: { error: 'unsupported_token_type' } })
  expect(await revoke(party, access, { client_secret: 'wrong' })).toMatchObject({ body: { error: 'invalid_client' } })
})

test('a public client revokes its own tokens without a secret', async () => {
  const party = await newParty(service, { confidential_client: false })
  const verifier = newVerifier()
  const code = await codeFor(party, { scope: 'all', code_challenge: verifier })
  const { access } = tokensIn(await exchange(party, code, { code_verifier: verifier, client_secret: undefined }))
  await revoke(party, access, { client_secret: '' })
  expect((await api('/user', { headers: bearer(access) })).status).toBe(401)
})

const introspect = ({ app }: Party, token: string) =>
  sendForm(service.url, '/login/oauth/introspect', { token }, { authorization: basicHeader(app.clientId, app.secret) })

test('introspection tells of a token of the own client (section 9)', async () => {
  const party = await newParty(service)
  const { access, refresh: renewal } = await tokensFor(party, 'openid read:user')
  const told = {
    active: true,
    scope: 'openid read:user',
    username: party.user.name,
    iss: service.url,
    sub: expect.stringMatching(/^\d+$/),
    aud: [party.app.clientId],
    client_id: party.app.clientId,
    exp: expect.any(Number),
    iat: expect.any(Number),
  }
  const answer = await introspect(party, access)
  expect(answer).toMatchObject({ status: 200, body: { ...told, token_type: 'bearer' } })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect((await introspect(party, renewal)).body).toEqual(told)
  const { clientId: client_id, secret: client_secret } = party.app
  const inBody = await sendForm(service.url, '/login/oauth/introspect', { token: access, client_id, client_secret })
  expect(inBody.body).toMatchObject({ active: true })
  const asJson = await readReply(
    await fetch(`${service.url}/login/oauth/introspect`, {
      method: 'POST',
      headers: { authorization: basicHeader(client_id, client_secret), 'content-type': 'application/json' },
      body: JSON.stringify({ token: access }),
    }),
  )
  expect(asJson.body).toMatchObject({ active: true })
})

test('of every other token it tells nothing', async () => {
  const party = await newParty(service)
  const { access, refresh: renewal } = await tokensFor(party, 'all')
  const other = { ...party, app: await register(party.user, { name: 'Other' }) }
  for (const token of [access, renewal, party.user.token, 'garbage', 'a\0'])
    expect(await introspect(other, token)).toMatchObject({ status: 200, body: { active: false } })
  expect(Object.keys((await introspect(other, access)).body)).toEqual(['active'])
  const second = tokensIn(await refresh(party, renewal))
  expect((await introspect(party, renewal)).body).toEqual({ active: false })
  await service.context.sql`update oauth_access_tokens set expires_at = now() - interval '1 second'`
  expect((await introspect(party, access)).body).toEqual({ active: false })
  await service.context.sql`update users set prohibit_login = true where name = ${party.user.name}`
  expect((await introspect(party, second.refresh)).body).toEqual({ active: false })
  expect(await introspect(party, '')).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

test('introspection needs a client with a secret', async () => {
  const party = await newParty(service)
  const open = await register(party.user, { confidential_client: false })
  const { access } = await tokensFor(party, 'all')
  const wrong: { headers: Record<string, string>; fields: Record<string, string> }[] = [
    { headers: {}, fields: {} },
    { headers: { authorization: basicHeader(party.app.clientId, 'wrong') }, fields: {} },
    { headers: { authorization: basicHeader(open.clientId, open.secret) }, fields: {} },
    { headers: {}, fields: { client_id: party.app.clientId, client_secret: 'wrong' } },
    { headers: bearer(access), fields: {} },
  ]
  for (const { headers, fields } of wrong) {
    const answer = await sendForm(service.url, '/login/oauth/introspect', { token: access, ...fields }, headers)
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect(answer.headers.get('www-authenticate')).toStartWith('Basic realm=')
  }
})
