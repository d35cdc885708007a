import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'
import {
  askToken,
  basicHeader,
  codeFor,
  exchange,
  newParty,
  newVerifier,
  type Party,
  REDIRECT,
  readReply,
  refresh,
  register,
  s256,
  sendForm,
  tokensIn,
} from './flow.ts'
import { whileHeld } from './held.ts'

const PATH = '/login/oauth/access_token'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const whoami = (token: string) => service.client({ token }).get('/user')
const error = (code: string, description: string) => ({ error: code, error_description: description })

/** The same request in each form that a body may have. */
function requests(app: Party['app'], code: string): Record<string, RequestInit> {
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: app.redirectUri,
    client_id: app.clientId,
    client_secret: app.secret,
  }
  const multipart = new FormData()
  for (const [name, value] of Object.entries(fields)) multipart.set(name, value)
  const { client_id, client_secret, ...rest } = fields
  return {
    form: { body: new URLSearchParams(fields) },
    multipart: { body: multipart },
    JSON: { body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } },
    Basic: { body: new URLSearchParams(rest), headers: { authorization: basicHeader(client_id, client_secret) } },
    'Basic and the same in the body': {
      body: new URLSearchParams(fields),
      headers: { authorization: basicHeader(client_id, client_secret) },
    },
    'Basic with everything percent-encoded': {
      body: new URLSearchParams(rest),
      headers: { authorization: `basic ${btoa(`${encodeAll(client_id)}:${encodeAll(client_secret)}`)}` },
    },
    'Accept: text/html': { body: new URLSearchParams(fields), headers: { accept: 'text/html' } },
    'a bearer token beside it (T12)': { body: new URLSearchParams(fields), headers: { authorization: 'Bearer x' } },
  }
}

const encodeAll = (text: string) => text.replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)

test.each(Object.keys(requests({ clientId: '', secret: '', redirectUri: '', id: 0 }, '')))(
  'a code is exchanged by %s',
  async (kind) => {
    const party = await newParty(service)
    const code = await codeFor(party, { scope: 'all' })
    const reply = await readReply(
      await fetch(service.url + PATH, { method: 'POST', ...requests(party.app, code)[kind] }),
    )
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      access_token: expect.stringMatching(/^gtu_[a-z2-7]{52}$/),
      token_type: 'bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^gtr_[a-z2-7]{104}$/),
    })
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.headers.get('content-type')).toStartWith('application/json')
    expect(reply.headers.getSetCookie()).toEqual([])
    expect((await whoami(String(reply.body.access_token))).status).toBe(200)
  },
)

test('parameters of the query alone do not count', async () => {
  const party = await newParty(service)
  const query = new URLSearchParams({ grant_type: 'authorization_code', code: await codeFor(party) })
  const reply = await sendForm(service.url, `${PATH}?${query}`, { client_id: party.app.clientId })
  expect(reply.body).toMatchObject({ error: 'invalid_request' })
})

const ONLY = 'Only refresh_token or authorization_code grant type is supported'

test.each([
  'password',
  'client_credentials',
  'device_code',
  'implicit',
  'urn:ietf:params:oauth:grant-type:device_code',
])('grant type %s is not supported (T1)', async (grant_type) => {
  const party = await newParty(service)
  const reply = await askToken(party, { grant_type })
  expect([reply.status, reply.body]).toEqual([400, error('unsupported_grant_type', ONLY)])
  expect(reply.headers.get('cache-control')).toBe('no-store')
})

test.each([
  ['no grant type', new URLSearchParams(), undefined],
  ['an empty body', '', 'application/x-www-form-urlencoded'],
  ['no body and no type', undefined, undefined],
  ['a text', 'grant_type=authorization_code', 'text/plain'],
  ['broken JSON', '{"grant_type":', 'application/json'],
  ['JSON that is a list', '["grant_type"]', 'application/json'],
  ['JSON that is null', 'null', 'application/json'],
])('%s has no grant type (T1)', async (_, body, type) => {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
  const reply = await readReply(
    await fetch(service.url + PATH, { method: 'POST', headers, ...(body === undefined ? {} : { body }) }),
  )
  expect([reply.status, reply.body]).toEqual([400, error('invalid_request', ONLY)])
})

test.each([
  ['JSON with a number', '{"grant_type":1}', 'application/json', 400],
  ['JSON with an object', '{"grant_type":"authorization_code","code":{"a":1}}', 'application/json', 400],
  [
    'a repeated field',
    'grant_type=authorization_code&grant_type=refresh_token',
    'application/x-www-form-urlencoded',
    400,
  ],
  ['a form without its boundary', '--x\r\n', 'multipart/form-data', 400],
  ['a body that is too large', `code=${'x'.repeat(1_100_000)}`, 'application/x-www-form-urlencoded', 413],
])('%s is an invalid request', async (_, body, type, status) => {
  const reply = await readReply(
    await fetch(service.url + PATH, { method: 'POST', headers: { 'content-type': type }, body }),
  )
  expect([reply.status, reply.body.error]).toEqual([status, 'invalid_request'])
})

test.each([
  ['unknown (T2)', { client_id: 'nope' }, 'invalid_client', "cannot load client with client id: 'nope'"],
  ['missing (T2)', { client_id: undefined }, 'invalid_client', "cannot load client with client id: ''"],
  ['with NUL', { client_id: 'a\0' }, 'invalid_client', "cannot load client with client id: 'a\0'"],
  ['with a wrong secret (T3)', { client_secret: 'wrong' }, 'invalid_client', 'invalid client secret'],
  ['with an empty secret (T3)', { client_secret: '' }, 'invalid_client', 'invalid empty client secret'],
  ['without its secret (T3)', { client_secret: undefined }, 'invalid_client', 'invalid empty client secret'],
])('a client that is %s is refused, and the code stays good', async (_, wrong, code, description) => {
  const party = await newParty(service)
  const given = await codeFor(party)
  const reply = await exchange(party, given, wrong)
  expect([reply.status, reply.body]).toEqual([400, error(code, description)])
  expect((await exchange(party, given)).status).toBe(200)
})

test('by Basic a wrong client gets 401 and is asked for Basic (T3, T4)', async () => {
  const party = await newParty(service)
  const { app } = party
  const fields = { grant_type: 'authorization_code', code: await codeFor(party), redirect_uri: REDIRECT }
  for (const authorization of [
    basicHeader(app.clientId, 'wrong'),
    basicHeader('nope', app.secret),
    basicHeader(app.clientId, ''),
    'Basic !!!',
    `Basic ${btoa('no colon')}`,
    `Basic ${btoa('%zz:x')}`,
  ]) {
    const reply = await sendForm(service.url, PATH, fields, { authorization })
    expect([reply.status, reply.body.error]).toEqual([401, 'invalid_client'])
    expect(reply.headers.get('www-authenticate')).toStartWith('Basic realm=')
  }
})

test.each(['client_id', 'client_secret'])('Basic and a body that differ in %s are refused (T5)', async (name) => {
  const party = await newParty(service)
  const authorization = basicHeader(party.app.clientId, party.app.secret)
  const reply = await sendForm(
    service.url,
    PATH,
    { grant_type: 'authorization_code', [name]: 'other' },
    { authorization },
  )
  const description = `${name} in request body inconsistent with Authorization header`
  expect([reply.status, reply.body]).toEqual([400, error('invalid_request', description)])
})

test.each([
  ['unknown (T6)', 'gta_unknown'],
  ['missing (T6)', undefined],
  ['very long', 'x'.repeat(100_000)],
  ['with NUL', 'gta_\0'],
])('a code that is %s is refused', async (_, code) => {
  const party = await newParty(service)
  const reply = await exchange(party, '', { code })
  expect([reply.status, reply.body]).toEqual([400, error('invalid_grant', 'client is not authorized')])
})

test.each([
  ['not registered (T8)', { redirect_uri: 'https://evil.example/' }, 'unexpected redirect URI'],
  ['missing (T9)', { redirect_uri: undefined }, 'redirect_uri differs from the original authorization request'],
  [
    'another registered one (T9)',
    { redirect_uri: 'https://app.example/two' },
    'redirect_uri differs from the original authorization request',
  ],
])('an address that is %s is refused, and the code stays good', async (_, wrong, description) => {
  const party = await newParty(service, { redirect_uris: [REDIRECT, 'https://app.example/two'] })
  const code = await codeFor(party)
  const reply = await exchange(party, code, wrong)
  expect([reply.status, reply.body]).toEqual([400, error('invalid_grant', description)])
  expect((await exchange(party, code)).status).toBe(200)
})

test('a port other than the one that was asked for is refused (T9)', async () => {
  const party = await newParty(service, { redirect_uris: ['http://127.0.0.1/cb'], confidential_client: false })
  const verifier = newVerifier()
  const redirect_uri = 'http://127.0.0.1:1234/cb'
  const code = await codeFor(party, { redirect_uri, code_challenge: s256(verifier), code_challenge_method: 'S256' })
  const other = await exchange(party, code, { code_verifier: verifier, redirect_uri: 'http://127.0.0.1:1235/cb' })
  expect(other.body).toEqual(error('invalid_grant', 'redirect_uri differs from the original authorization request'))
  const right = await exchange(party, code, { code_verifier: verifier, redirect_uri, client_secret: 'anything' })
  expect(right.status).toBe(200)
})

test('the code of another client is refused, and stays good (T10)', async () => {
  const party = await newParty(service)
  const other = await register(party.user, { name: 'Other' })
  const code = await codeFor(party)
  const reply = await exchange({ ...party, app: other }, code)
  expect([reply.status, reply.body]).toEqual([400, error('invalid_grant', 'invalid grant')])
  expect((await exchange(party, code)).status).toBe(200)
})

test.each([
  ['wrong', newVerifier()],
  ['empty', ''],
  ['missing', undefined],
  ['too short', 'x'.repeat(42)],
  ['too long', 'x'.repeat(129)],
])('a verifier that is %s is refused (T11)', async (_, code_verifier) => {
  const party = await newParty(service)
  const short = code_verifier !== undefined && /^x+$/.test(code_verifier) ? s256(code_verifier) : s256(newVerifier())
  const code = await codeFor(party, { code_challenge: short, code_challenge_method: 'S256' })
  const reply = await exchange(party, code, { code_verifier })
  expect([reply.status, reply.body]).toEqual([400, error('invalid_grant', 'failed PKCE code challenge')])
})

test('a verifier for a code without a challenge is refused: somebody has taken the challenge away', async () => {
  const party = await newParty(service)
  const reply = await exchange(party, await codeFor(party), { code_verifier: newVerifier() })
  expect(reply.body).toEqual(error('invalid_grant', 'failed PKCE code challenge'))
})

test('of eight exchanges at once one wins', async () => {
  const party = await newParty(service)
  const code = await codeFor(party)
  const eight = Array.from({ length: 8 }, () => () => exchange(party, code))
  const replies = await whileHeld(service, 'oauth_authorizations', eight)
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400, 400, 400])
  for (const { status, body } of replies) if (status !== 200) expect(body.error).toBe('invalid_grant')
})

test('a code that comes a second time ends what the first gave', async () => {
  const party = await newParty(service)
  const code = await codeFor(party, { scope: 'all' })
  const other = tokensIn(await exchange(party, await codeFor(party, { scope: 'all' })))
  const tokens = tokensIn(await exchange(party, code))
  expect((await whoami(tokens.access)).status).toBe(200)
  const reused = await exchange(party, code)
  expect(reused.body).toEqual(error('invalid_grant', 'client is not authorized'))
  expect((await whoami(tokens.access)).status).toBe(401)
  expect((await refresh(party, tokens.refresh)).body.error).toBe('invalid_grant')
  // Another consent of the same person is another family.
  expect((await whoami(other.access)).status).toBe(200)
  expect((await exchange(party, code)).body).toEqual(error('invalid_grant', 'client is not authorized'))
})

test('a code that strangers try without its verifier ends nothing', async () => {
  const party = await newParty(service)
  const verifier = newVerifier()
  const code = await codeFor(party, { scope: 'all', code_challenge: s256(verifier), code_challenge_method: 'S256' })
  const tokens = tokensIn(await exchange(party, code, { code_verifier: verifier }))
  expect((await exchange(party, code, { code_verifier: newVerifier() })).status).toBe(400)
  expect((await whoami(tokens.access)).status).toBe(200)
})

test('an account that may not sign in gets no tokens', async () => {
  const party = await newParty(service)
  const code = await codeFor(party)
  await service.context.sql`update users set prohibit_login = true where name = ${party.user.name}`
  expect((await exchange(party, code)).body.error).toBe('invalid_grant')
})

test('the answer names the scopes where they are not what was asked for', async () => {
  const party = await newParty(service)
  const scopeFor = async (scope: string) => tokensIn(await exchange(party, await codeFor(party, { scope }))).body.scope
  expect(await scopeFor('openid write:repository')).toBeUndefined()
  expect(await scopeFor('')).toBeUndefined()
  expect(await scopeFor('read:user bogus')).toBe('read:user')
  expect(await scopeFor('read:user,write:repository')).toBe('write:repository read:user')
  expect(await scopeFor('admin,user,issue,misc,notification,organization,package,repository')).toBe(
    'write:admin write:misc write:notification write:organization write:package write:issue write:repository write:user',
  )
})

test('the database holds none of the secrets', async () => {
  const party = await newParty(service)
  const code = await codeFor(party)
  const { access, refresh: renewal } = tokensIn(await exchange(party, code))
  const rows = await service.context.sql`
    select a::text as row from oauth_authorizations a union all select t::text from oauth_access_tokens t`
  const text = JSON.stringify(rows)
  for (const secret of [code.slice(4), access.slice(4), renewal.slice(4, 56), renewal.slice(56)])
    expect(text).not.toContain(secret)
})

test('other methods are refused, and OPTIONS names those there are', async () => {
  for (const method of ['GET', 'PUT']) {
    const answer = await fetch(service.url + PATH, { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  }
})
