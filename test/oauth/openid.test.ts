import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { createRemoteJWKSet, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import { startTestService, type TestService } from '../harness/service.ts'
import { newParty, type Party, readReply, refresh, sendForm, type TokenReply, tokensFor, tokensIn } from './flow.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const getJson = async (path: string, headers: Record<string, string> = {}): Promise<TokenReply> =>
  readReply(await fetch(service.url + path, { headers }))

/** Checked as a client does, with what discovery says. */
async function verified({ service: { url }, app }: Party, token: unknown): Promise<JWTPayload> {
  const metadata = await (await fetch(`${url}/.well-known/openid-configuration`)).json()
  const keys = createRemoteJWKSet(new URL(metadata.jwks_uri))
  const { payload } = await jwtVerify(String(token), keys, { issuer: metadata.issuer, audience: app.clientId })
  return payload
}

test.each(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'])('%s', async (path) => {
  const { status, body, headers } = await getJson(path)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toStartWith('application/json')
  expect(headers.getSetCookie()).toEqual([])
  const at = (name: string) => `${service.url}/login/oauth/${name}`
  expect(body).toMatchObject({
    issuer: service.url,
    authorization_endpoint: at('authorize'),
    token_endpoint: at('access_token'),
    jwks_uri: at('keys'),
    userinfo_endpoint: at('userinfo'),
    introspection_endpoint: at('introspect'),
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['RS256'],
    subject_types_supported: ['public'],
    code_challenge_methods_supported: ['plain', 'S256'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    revocation_endpoint: at('revoke'),
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  })
  expect(body.scopes_supported).toContain('write:repository')
  const order = [
    'issuer',
    'authorization_endpoint',
    'token_endpoint',
    'jwks_uri',
    'userinfo_endpoint',
    'introspection_endpoint',
  ]
  expect(Object.keys(body).slice(0, 6)).toEqual(order)
  expect((await fetch(service.url + path, { method: 'HEAD' })).status).toBe(200)
})

test('an id token says who signed in, when, and to whom, and clients can check it', async () => {
  const party = await newParty(service)
  const { access, body } = await tokensFor(party, 'openid', { nonce: 'n-1' })
  const payload = await verified(party, body.id_token)
  const half = createHash('sha256').update(access).digest().subarray(0, 16).toString('base64url')
  expect(payload).toEqual({
    iss: service.url,
    sub: expect.stringMatching(/^\d+$/),
    aud: [party.app.clientId],
    exp: (payload.iat ?? 0) + 3600,
    iat: expect.any(Number),
    auth_time: expect.any(Number),
    nonce: 'n-1',
    at_hash: half,
  })
  const { keys } = (await getJson('/login/oauth/keys')).body
  expect(keys).toEqual([
    {
      kty: 'RSA',
      alg: 'RS256',
      use: 'sig',
      e: 'AQAB',
      n: expect.stringMatching(/^[\w-]{342}$/),
      kid: expect.any(String),
    },
  ])
  const header = decodeProtectedHeader(String(body.id_token))
  expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) })
  const again = tokensIn(await refresh(party, String(body.refresh_token)))
  const renewed = await verified(party, again.body.id_token)
  expect(renewed).toMatchObject({ nonce: 'n-1', sub: payload.sub ?? '', auth_time: payload.auth_time })
})

test('the nonce of an earlier request does not come again', async () => {
  const party = await newParty(service)
  await tokensFor(party, 'openid', { nonce: 'old' })
  const payload = await verified(party, (await tokensFor(party, 'openid')).body.id_token)
  expect(payload.nonce).toBeUndefined()
})

test('without openid there is no id token', async () => {
  expect((await tokensFor(await newParty(service), 'profile email')).body.id_token).toBeUndefined()
})

test('each scope tells its claims, in the id token and at userinfo', async () => {
  const party = await newParty(service)
  const { user } = party
  await user.client.patch('/user/settings', { full_name: 'Al Ice', website: 'https://al.example' })
  await service.admin.client.post('/orgs', { username: 'zoo' })
  await service.admin.client.post('/orgs', { username: 'abc', visibility: 'private' })
  for (const org of ['zoo', 'abc']) {
    const team = await service.admin.client.post(`/orgs/${org}/teams`, {
      name: 'Crew',
      permission: 'read',
      units: ['repo.code'],
    })
    await service.admin.client.put(`/teams/${team.number('id')}/members/${user.name}`)
  }
  const profile = {
    name: 'Al Ice',
    preferred_username: user.name,
    profile: `${service.url}/${user.name}`,
    picture: expect.stringContaining('/avatars/'),
    website: 'https://al.example',
    updated_at: expect.any(Number),
  }
  const email = { email: `${user.name}@localhost.localdomain`, email_verified: true }
  const groups = { groups: ['abc', 'abc:crew', 'zoo', 'zoo:crew'] }
  for (const [scope, claims] of [
    ['openid profile', profile],
    ['openid email', email],
    ['openid groups', groups],
    ['openid profile email groups', { ...profile, ...email, ...groups }],
  ] as const) {
    const { access, body } = await tokensFor(party, scope)
    const { iss, aud, exp, iat, auth_time, at_hash, ...told } = await verified(party, body.id_token)
    expect(told).toEqual({ sub: expect.any(String), ...claims })
    expect((await getJson('/login/oauth/userinfo', { authorization: `bearer ${access}` })).body).toEqual(told)
  }
  const narrowed = await tokensFor(party, 'openid groups public-only')
  expect((await getJson('/login/oauth/userinfo', { authorization: `bearer ${narrowed.access}` })).body.groups).toEqual([
    'zoo',
    'zoo:crew',
  ])
})

test('userinfo takes the token in a header of any case, the query and a form (section 9)', async () => {
  const { access } = await tokensFor(await newParty(service), 'openid')
  for (const word of ['Bearer', 'bearer', 'BEARER'])
    expect((await getJson('/login/oauth/userinfo', { authorization: `${word} ${access}` })).status).toBe(200)
  expect((await getJson(`/login/oauth/userinfo?access_token=${access}`)).status).toBe(200)
  const posted = await sendForm(service.url, '/login/oauth/userinfo', { access_token: access })
  expect(posted).toMatchObject({ status: 200, body: { sub: expect.any(String) } })
  expect(posted.headers.get('cache-control')).toBe('no-store')
  const empty = await fetch(`${service.url}/login/oauth/userinfo`, {
    method: 'POST',
    headers: { authorization: `Bearer ${access}` },
  })
  expect(empty.status).toBe(200)
})

test('a personal token works at userinfo, as far as it may read the account', async () => {
  const { user } = await newParty(service)
  const read = async (token: string) =>
    (await getJson('/login/oauth/userinfo', { authorization: `token ${token}` })).body
  expect(await read(user.token)).toMatchObject({ name: user.name, email: expect.any(String), groups: null })
  const password = service.client({ basic: `${user.name}:${user.password}` })
  const made = await password.post(`/users/${user.name}/tokens`, { name: 'narrow', scopes: ['read:issue'] })
  expect(Object.keys(await read(made.string('sha1')))).toEqual(['sub'])
})

test('nothing but a token opens userinfo', async () => {
  const { user, visitor } = await newParty(service)
  const asked: Record<string, string>[] = [
    {},
    { authorization: `Basic ${btoa(`${user.name}:${user.password}`)}` },
    { cookie: [...visitor.cookies].map((pair) => pair.join('=')).join('; ') },
  ]
  for (const headers of asked) {
    const { status, body, headers: got } = await getJson('/login/oauth/userinfo', headers)
    expect([status, body.text]).toEqual([401, 'no valid authorization\n'])
    expect(got.get('www-authenticate')).toBe('Bearer realm="Hearth OAuth2"')
  }
  for (const token of [`gtu_${'a'.repeat(52)}`, 'garbage']) {
    const wrong = await getJson('/login/oauth/userinfo', { authorization: `Bearer ${token}` })
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
  }
})

test('OAUTH2_USERINFO_ALL_CLAIMS tells old clients everything, and the issuer may be set', async () => {
  const settings = { OAUTH2_USERINFO_ALL_CLAIMS: 'true', OAUTH2_JWT_CLAIM_ISSUER: 'https://login.example/' }
  const old = await startTestService({ settings })
  try {
    const party = await newParty(old)
    const { access, body } = await tokensFor(party, 'openid')
    const answer = await fetch(`${old.url}/login/oauth/userinfo`, { headers: { authorization: `Bearer ${access}` } })
    const keys = ['sub', 'name', 'preferred_username', 'email', 'picture', 'groups']
    expect(Object.keys(await answer.json())).toEqual(expect.arrayContaining(keys))
    expect((await verified(party, body.id_token)).iss).toBe('https://login.example/')
  } finally {
    await old.stop()
  }
})

test.each(['ES256', 'EdDSA'])(
  '%s signs where it is set, and the key before it stays published',
  async (algorithm) => {
    let now = new Date()
    const clock = { now: () => now }
    const signing = await startTestService({ clock, settings: { OAUTH2_JWT_SIGNING_ALGORITHM: algorithm } })
    try {
      const party = await newParty(signing)
      const { body, access } = await tokensFor(party, 'openid')
      const payload = await verified(party, body.id_token)
      const hash = createHash(algorithm === 'EdDSA' ? 'sha512' : 'sha256')
        .update(access)
        .digest()
      expect(payload.at_hash).toBe(hash.subarray(0, hash.length / 2).toString('base64url'))
      const kid = decodeProtectedHeader(String(body.id_token)).kid
      now = new Date(now.getTime() + 91 * 86_400_000)
      await party.visitor.signIn(party.user)
      const next = await tokensFor(party, 'openid')
      expect(decodeProtectedHeader(String(next.body.id_token)).kid).not.toBe(kid)
      const published = async () => (await readReply(await fetch(`${signing.url}/login/oauth/keys`))).body.keys
      expect(await published()).toMatchObject([{ alg: algorithm }, { kid }])
      now = new Date(now.getTime() + 2 * 86_400_000)
      await signing.admin.client.post('/admin/cron/delete_expired_oauth_tokens')
      await signing.drain()
      expect(await published()).toMatchObject([{ alg: algorithm, use: 'sig' }])
      const rows = await signing.context.sql`select oauth_signing_keys::text as row from oauth_signing_keys`
      expect(JSON.stringify(rows)).not.toContain('"d"')
    } finally {
      await signing.stop()
    }
  },
  30_000,
)

test('another algorithm makes another key without a word', async () => {
  const { context } = service
  const party = await newParty(service)
  const before = decodeProtectedHeader(String((await tokensFor(party, 'openid')).body.id_token)).kid
  await context.sql`update oauth_signing_keys set algorithm = 'ES256' where retired_at is null`
  const first = await Promise.all([1, 2, 3].map(() => tokensFor(party, 'openid')))
  const kids = first.map(({ body }) => decodeProtectedHeader(String(body.id_token)).kid)
  expect(new Set(kids).size).toBe(1)
  expect(kids[0]).not.toBe(before)
  await context.sql`delete from oauth_signing_keys where retired_at is not null`
})

test('a key that another secret key has sealed signs no more, and the next one does', async () => {
  const party = await newParty(service)
  const { context } = service
  await tokensFor(party, 'openid')
  await context.sql`update oauth_signing_keys set private_key = '\\x00' where retired_at is null`
  const { body } = await tokensFor(party, 'openid')
  expect((await verified(party, body.id_token)).sub).toBeDefined()
})

test('browser applications of allowed origins may ask, consent may not be', async () => {
  const open = await startTestService({ settings: { CORS_ORIGINS: 'https://spa.example' } })
  try {
    const preflight = (path: string, origin: string) =>
      fetch(open.url + path, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
      })
    const paths = ['access_token', 'userinfo', 'keys', 'introspect', 'revoke'].map((name) => `/login/oauth/${name}`)
    for (const path of [...paths, '/.well-known/openid-configuration']) {
      const allowed = await preflight(path, 'https://spa.example')
      expect(allowed.headers.get('access-control-allow-origin')).toBe('https://spa.example')
      expect(allowed.headers.get('access-control-allow-headers')).toContain('Authorization')
      expect(allowed.headers.get('access-control-max-age')).toBe('600')
      const foreign = await preflight(path, 'https://evil.example')
      expect(foreign.headers.get('access-control-allow-origin')).toBeNull()
    }
    for (const path of ['/login/oauth/authorize', '/login/oauth/grant'])
      expect((await preflight(path, 'https://spa.example')).headers.get('access-control-allow-origin')).toBeNull()
    const asked = await fetch(`${open.url}/login/oauth/authorize`, { headers: { origin: 'https://spa.example' } })
    expect(asked.headers.get('access-control-allow-origin')).toBeNull()
  } finally {
    await open.stop()
  }
})

test('OAUTH2_ENABLED=false: 403 everywhere, no discovery, no tokens; the API of applications stays', async () => {
  const off = await startTestService({ settings: { OAUTH2_ENABLED: 'false' } })
  try {
    for (const name of ['openid-configuration', 'oauth-authorization-server'])
      expect((await fetch(`${off.url}/.well-known/${name}`)).status).toBe(404)
    for (const name of ['authorize', 'keys', 'userinfo'])
      expect((await fetch(`${off.url}/login/oauth/${name}`)).status).toBe(403)
    for (const name of ['authorize', 'grant', 'access_token', 'userinfo', 'introspect', 'revoke'])
      expect(
        (await fetch(`${off.url}/login/oauth/${name}`, { method: 'POST', body: new URLSearchParams({ a: 'b' }) }))
          .status,
      ).toBe(403)
    expect((await off.admin.client.get('/user/applications/oauth2')).status).toBe(200)
  } finally {
    await off.stop()
  }
})
