import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createVisitor } from '../harness/browser.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import {
  authorizePath,
  codeFor,
  consent,
  consentFields,
  exchange,
  isConsentPage,
  newcomer,
  newParty,
  newVerifier,
  REDIRECT,
  register,
  s256,
  sentTo,
  tokensFor,
  tokensIn,
} from './flow.ts'
import { whileHeld } from './held.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const challenge = { code_challenge: s256(newVerifier()), code_challenge_method: 'S256' }

test('who is not signed in is sent to sign in, and comes back (A1)', async () => {
  const { user, app } = await newParty(service)
  const visitor = createVisitor(service.url)
  const path = authorizePath(app, { login_hint: user.name })
  const first = await visitor.get(path)
  expect(first.status).toBe(303)
  expect(first.location).toStartWith(`/user/login?redirect_to=${encodeURIComponent(path)}`)
  expect((await visitor.get(first.location)).text).toContain(`value="${user.name}"`)
  const target = new URL(first.location, service.url).searchParams.get('redirect_to') ?? ''
  const signedIn = await visitor.post('/user/login', {
    user_name: user.name,
    password: user.password,
    redirect_to: target,
  })
  expect(signedIn.status).toBe(303)
  expect(isConsentPage(await visitor.get(signedIn.location))).toBe(true)
})

test.each([
  ['an unknown client (A2)', { client_id: 'nope' }, 'Client ID not registered'],
  ['no client (A2)', { client_id: undefined }, 'Client ID not registered'],
  ['a client with NUL in its name', { client_id: '\0' }, 'Client ID not registered'],
  ['an address that is not registered (A3)', { redirect_uri: 'https://evil.example/' }, 'Unregistered Redirect URI'],
  ['no address (A3)', { redirect_uri: undefined }, 'Unregistered Redirect URI'],
  ['another trailing slash (A4)', { redirect_uri: `${REDIRECT}/` }, 'Unregistered Redirect URI'],
  ['another letter case (A4)', { redirect_uri: 'https://app.example/CB' }, 'Unregistered Redirect URI'],
  ['an added query (A5)', { redirect_uri: `${REDIRECT}?a=b` }, 'Unregistered Redirect URI'],
  ['an added question mark (A5)', { redirect_uri: `${REDIRECT}?` }, 'Unregistered Redirect URI'],
  ['an added fragment (A5)', { redirect_uri: `${REDIRECT}#x` }, 'Unregistered Redirect URI'],
  ['a user in the address', { redirect_uri: 'https://app.example@evil.example/cb' }, 'Unregistered Redirect URI'],
  ['dots in the address', { redirect_uri: 'https://app.example/x/../cb' }, 'Unregistered Redirect URI'],
  ['a suffix', { redirect_uri: 'https://app.example.evil.example/cb' }, 'Unregistered Redirect URI'],
])('%s is told to the person, who is sent nowhere', async (_, wrong, message) => {
  const { visitor, app } = await newParty(service)
  for (const asked of [visitor, createVisitor(service.url)]) {
    const answer = await asked.get(authorizePath(app, wrong))
    expect([answer.status, answer.location]).toEqual([400, ''])
    expect(answer.headers.get('content-type')).toStartWith('text/html')
    expect(answer.text).toContain('Authorization failed')
    expect(answer.text).toContain(message)
  }
})

test('a client id or an address that comes twice leads nowhere (A18)', async () => {
  const { visitor, app } = await newParty(service)
  for (const twice of [`client_id=${app.clientId}`, `redirect_uri=${encodeURIComponent(REDIRECT)}`])
    expect((await visitor.get(`${authorizePath(app)}&${twice}`)).status).toBe(400)
})

test('the root of a host is the same with and without its slash', async () => {
  const { visitor, app } = await newParty(service, { redirect_uris: ['https://app.example'] })
  for (const redirect_uri of ['https://app.example', 'https://app.example/'])
    expect(isConsentPage(await visitor.get(authorizePath(app, { redirect_uri })))).toBe(true)
})

test.each([
  ['http://127.0.0.1/cb', 'http://127.0.0.1:1234/cb', true],
  ['http://[::1]/cb', 'http://[::1]:5555/cb', true],
  ['http://127.0.0.1:5000/cb', 'http://127.0.0.1:6000/cb', true],
  ['http://127.0.0.1', 'http://127.0.0.1:1234/', true],
  ['http://127.0.0.1', 'http://127.0.0.1:1234', true],
  ['http://localhost/cb', 'http://localhost/cb', true],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:1234/other', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:1234/cb?a=b', false],
  ['http://127.0.0.1/cb', 'http://me@127.0.0.1:1234/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.2/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:99999/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1.evil.example/cb', false],
  ['https://127.0.0.1/cb', 'https://127.0.0.1:1234/cb', false],
  ['http://localhost/cb', 'http://localhost:1234/cb', false],
])('a public client with %s asked for %s: %p (A7, A8, A9)', async (registered, asked, isAccepted) => {
  const { visitor, app } = await newParty(service, { redirect_uris: [registered], confidential_client: false })
  const answer = await visitor.get(authorizePath(app, { redirect_uri: asked, ...challenge }))
  expect(isConsentPage(answer)).toBe(isAccepted)
  if (!isAccepted) expect(answer.status).toBe(400)
})

test('a confidential client has the port that it registered (A6)', async () => {
  const { visitor, app } = await newParty(service, { redirect_uris: ['http://127.0.0.1/cb'] })
  expect((await visitor.get(authorizePath(app, { redirect_uri: 'http://127.0.0.1:1234/cb' }))).status).toBe(400)
})

const CODE_ONLY = 'Only code response type is supported.'
const NO_PKCE = 'PKCE is required for public clients'
const isPublic = { confidential_client: false }

type Wrong = Record<string, string | undefined>
const faults: [string, Wrong, string, string, Record<string, unknown>?][] = [
  ['no response type (A10)', { response_type: undefined }, 'invalid_request', CODE_ONLY],
  ['response type token (A10)', { response_type: 'token' }, 'unsupported_response_type', CODE_ONLY],
  ['a hybrid response type (A10)', { response_type: 'code id_token' }, 'unsupported_response_type', CODE_ONLY],
  [
    'S512 (A12)',
    { ...challenge, code_challenge_method: 'S512' },
    'invalid_request',
    'unsupported code challenge method',
  ],
  ['a public client without PKCE (A13)', {}, 'invalid_request', NO_PKCE, isPublic],
  ['a method without a challenge (A13)', { code_challenge_method: 'S256' }, 'invalid_request', NO_PKCE, isPublic],
  ['an empty challenge (A15)', { ...challenge, code_challenge: '' }, 'invalid_request', 'code challenge is missing'],
  [
    'a short challenge (A15)',
    { code_challenge: 'short' },
    'invalid_request',
    'code challenge has a wrong length or character',
  ],
  [
    'a strange challenge (A15)',
    { code_challenge: '='.repeat(43) },
    'invalid_request',
    'code challenge has a wrong length or character',
  ],
  ['a request object (A17)', { request: 'x' }, 'request_not_supported', 'request objects are not supported'],
  [
    'the address of one (A17)',
    { request_uri: 'https://app.example/r' },
    'request_uri_not_supported',
    'request objects are not supported',
  ],
  [
    'another response mode (A17)',
    { response_mode: 'fragment' },
    'invalid_request',
    'Only query response mode is supported.',
  ],
  ['an unknown prompt', { prompt: 'dance' }, 'invalid_request', 'unknown prompt'],
  ['prompt none with another', { prompt: 'none login' }, 'invalid_request', 'prompt none stands alone'],
  ['a max_age that is no number', { max_age: 'old' }, 'invalid_request', 'max_age is no number of seconds'],
  [
    'NUL in the nonce',
    { nonce: 'a\0b' },
    'invalid_request',
    'the parameter "nonce" is too long or has a NUL character',
  ],
]

test.each(
  faults.map(([name, wrong, error, description, option = {}]) => ({ name, wrong, error, description, option })),
)('$name goes back to the application as an error', async ({ wrong, error, description, option }) => {
  const { visitor, app } = await newParty(service, option)
  for (const state of ['xyz', undefined]) {
    const answer = await visitor.get(authorizePath(app, { ...wrong, state }))
    expect(answer.status).toBe(303)
    expect(answer.location).toStartWith(`${REDIRECT}?`)
    const expected = { error, error_description: description, iss: service.url }
    expect(sentTo(answer)).toEqual(state === undefined ? expected : { ...expected, state })
  }
})

test('any other parameter that comes twice is an error for the application (A18)', async () => {
  const { visitor, app } = await newParty(service)
  for (const twice of ['state=other', 'scope=a&scope=b', 'nonce=1&nonce=1'])
    expect(sentTo(await visitor.get(`${authorizePath(app)}&${twice}`))).toMatchObject({
      error: 'invalid_request',
      state: 'xyz',
    })
})

test('a challenge without a method is the verifier itself (A13)', async () => {
  const party = await newParty(service, isPublic)
  const verifier = newVerifier()
  const code = await codeFor(party, { code_challenge: verifier })
  expect((await exchange(party, code, { code_verifier: verifier })).status).toBe(200)
})

test('a confidential client may leave PKCE out, unless the site asks for it (A14)', async () => {
  const party = await newParty(service)
  expect((await exchange(party, await codeFor(party))).status).toBe(200)
  const strict = await startTestService({ settings: { OAUTH2_REQUIRE_PKCE: 'true' } })
  try {
    const { visitor, app } = await newParty(strict)
    expect(sentTo(await visitor.get(authorizePath(app)))).toMatchObject({ error_description: 'PKCE is required' })
    expect(isConsentPage(await visitor.get(authorizePath(app, challenge)))).toBe(true)
  } finally {
    await strict.stop()
  }
})

test('prompt none asks nobody: it is answered with a code or an error (A17)', async () => {
  const party = await newParty(service)
  const { visitor, app } = party
  const quietly = authorizePath(app, { prompt: 'none', scope: 'openid' })
  expect(sentTo(await createVisitor(service.url).get(quietly))).toMatchObject({ error: 'login_required', state: 'xyz' })
  expect(sentTo(await visitor.get(quietly))).toMatchObject({ error: 'consent_required' })
  await codeFor(party, { scope: 'openid' })
  expect(sentTo(await visitor.get(quietly)).code).toStartWith('gta_')
  expect(sentTo(await visitor.get(authorizePath(app, { prompt: 'none', scope: 'openid email' })))).toMatchObject({
    error: 'consent_required',
  })
  await service.context.sql`update sessions set authenticated_at = authenticated_at - interval '1 hour'`
  expect(
    sentTo(await visitor.get(authorizePath(app, { prompt: 'none', scope: 'openid', max_age: '60' }))),
  ).toMatchObject({
    error: 'login_required',
  })
})

test.each([
  ['prompt login', { prompt: 'login' }],
  ['max_age that has passed', { max_age: '60' }],
  ['max_age 0', { max_age: '0' }],
])('%s asks for the password again, once', async (_, wanted) => {
  const party = await newParty(service)
  const { visitor, app, user } = party
  await codeFor(party)
  await service.context.sql`update sessions set authenticated_at = authenticated_at - interval '1 hour'`
  const before = new Date()
  const first = await visitor.get(authorizePath(app, wanted))
  expect(first.location).toStartWith('/user/login?')
  const form = await visitor.get(first.location)
  expect(form.text).toContain('name="password"')
  const [, redirectTo = ''] = /name="redirect_to" value="([^"]+)"/.exec(form.text) ?? []
  // Not without signing in.
  const target = redirectTo.replaceAll('&amp;', '&')
  expect((await visitor.get(target)).location).toStartWith('/user/login?')
  const signedIn = await visitor.post('/user/login', {
    user_name: user.name,
    password: user.password,
    redirect_to: target,
  })
  const { code = '' } = sentTo(await visitor.get(signedIn.location))
  expect(code).toStartWith('gta_')
  const [row] = await service.context.sql<{ at: Date }[]>`
    select max(auth_time) as at from oauth_authorizations`
  expect((row?.at.getTime() ?? 0) - before.getTime()).toBeGreaterThan(-2000)
})

test('id_token_hint means one person: for another it is a sign-in, or an error', async () => {
  const party = await newParty(service)
  const hint = String((await tokensFor(party, 'openid')).body.id_token)
  const own = { scope: 'openid', id_token_hint: hint }
  expect(sentTo(await party.visitor.get(authorizePath(party.app, { ...own, prompt: 'none' }))).code).toStartWith('gta_')
  const other = await newcomer(service)
  await codeFor({ ...party, ...other }, { scope: 'openid' })
  expect(sentTo(await other.visitor.get(authorizePath(party.app, { ...own, prompt: 'none' })))).toMatchObject({
    error: 'login_required',
  })
  expect((await other.visitor.get(authorizePath(party.app, own))).location).toStartWith('/user/login?')
  // What is no id token of ours means nobody.
  for (const id_token_hint of ['nonsense', `${hint.slice(0, -8)}AAAAAAAA`]) {
    const answer = await other.visitor.get(authorizePath(party.app, { scope: 'openid', id_token_hint }))
    expect(sentTo(answer).code).toStartWith('gta_')
  }
})

test('prompt consent asks again (A17)', async () => {
  const party = await newParty(service)
  await codeFor(party)
  expect((await party.visitor.get(authorizePath(party.app))).status).toBe(303)
  for (const prompt of ['consent', 'select_account'])
    expect(isConsentPage(await party.visitor.get(authorizePath(party.app, { prompt })))).toBe(true)
})

test('a form does as well as the query, but not from another site (A19)', async () => {
  const { visitor, app } = await newParty(service)
  const fields = Object.fromEntries(new URL(authorizePath(app), service.url).searchParams)
  expect(isConsentPage(await visitor.post('/login/oauth/authorize', fields))).toBe(true)
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  expect((await visitor.post('/login/oauth/authorize', fields, foreign)).status).toBe(403)
  expect((await visitor.post('/login/oauth/grant', { granted: 'true' }, foreign)).status).toBe(403)
  const anybody = await createVisitor(service.url).post('/login/oauth/authorize', fields)
  expect(anybody.location).toContain(encodeURIComponent(app.clientId))
})

test('the state comes back as it was, and is text on the page (A20)', async () => {
  const { visitor, app } = await newParty(service)
  const fields = Object.fromEntries(new URL(authorizePath(app), service.url).searchParams)
  for (const state of ['<b>"x', 's'.repeat(9000), 'ü & =']) {
    const page = await visitor.post('/login/oauth/authorize', { ...fields, state, prompt: 'consent' })
    expect(page.text).not.toContain('<b>"x')
    expect(sentTo(await consent(visitor, page))).toMatchObject({ state })
  }
})

test('an account that must change its password does so first; a prohibited one gets 403 (A21)', async () => {
  const { visitor, app, user } = await newParty(service)
  const edit = (change: object) =>
    service.admin.client.patch(`/admin/users/${user.name}`, { login_name: user.name, source_id: 0, ...change })
  await edit({ must_change_password: true })
  const sent = await visitor.get(authorizePath(app))
  expect([sent.status, sent.location]).toEqual([303, '/user/settings/change_password'])
  expect(sentTo(await visitor.get(authorizePath(app, { prompt: 'none' })))).toMatchObject({ error: 'login_required' })
  await edit({ must_change_password: false })
  await service.context.sql`update users set prohibit_login = true where name = ${user.name}`
  const refused = await visitor.get(authorizePath(app))
  expect([refused.status, refused.location]).toEqual([403, ''])
})

test('the page says who asks, for what, as whom and where to, in words', async () => {
  const { visitor, app, user } = await newParty(service, { name: '<i>Wiki</i>' })
  const page = await visitor.get(authorizePath(app, { scope: 'openid email read:repository' }))
  expect(page.text).toContain('&lt;i&gt;Wiki&lt;/i&gt;')
  expect(page.text).toContain(`@${user.name}`)
  for (const words of ['Know your e-mail address.', 'See and clone all your repositories', REDIRECT])
    expect(page.text).toContain(words)
  expect(page.text).not.toContain('full access')
  expect((await visitor.get(authorizePath(app, { scope: 'all' }))).text).toContain('full access')
  expect((await visitor.get(authorizePath(app))).text).toContain('what everybody can read')
})

test('the page stands in no frame and tells nobody its address', async () => {
  const { visitor, app } = await newParty(service)
  const { headers } = await visitor.get(authorizePath(app))
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('referrer-policy')).toMatch(/^(same-origin|no-referrer)$/)
})

test('yes sends a code and the issuer, no an error', async () => {
  const { visitor, app } = await newParty(service)
  const no = await consent(visitor, await visitor.get(authorizePath(app)), { granted: 'false' })
  expect(no.status).toBe(303)
  expect(sentTo(no)).toEqual({
    error: 'access_denied',
    error_description: 'the request is denied',
    state: 'xyz',
    iss: service.url,
  })
  const yes = await consent(visitor, await visitor.get(authorizePath(app)))
  expect(sentTo(yes)).toEqual({
    code: expect.stringMatching(/^gta_[a-z2-7]{52}$/),
    state: 'xyz',
    iss: service.url,
  })
})

test('one consent gives one code, also of two answers at once', async () => {
  const { visitor, app } = await newParty(service)
  const page = await visitor.get(authorizePath(app))
  const four = [1, 2, 3, 4].map(() => () => consent(visitor, page))
  const answers = await whileHeld(service, 'oauth_requests', four)
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400, 400])
  expect((await consent(visitor, page)).status).toBe(400)
})

test('of requests that nobody answers a session keeps the newest twenty, also of many at once', async () => {
  const { visitor, app } = await newParty(service)
  const pages = await Promise.all(Array.from({ length: 40 }, () => visitor.get(authorizePath(app))))
  expect(pages.map(({ status }) => status)).toEqual(Array(40).fill(200))
  const ofApp = service.context.sql`
    select r.created_at from oauth_requests r join oauth_applications a on a.id = r.application_id
    where a.client_id = ${app.clientId} order by r.created_at desc`
  const kept = (await ofApp).map((row) => row.created_at.getTime())
  // Two of one millisecond are as new as each other.
  expect(kept.filter((time) => time < (kept[19] ?? 0))).toEqual([])
})

test.each(['scope', 'nonce', 'state', 'redirect_uri', 'client_id', 'request', 'granted'])(
  'a form whose %s was changed is refused, and the request stays',
  async (name) => {
    const { visitor, app } = await newParty(service)
    const page = await visitor.get(authorizePath(app, { scope: 'read:user', nonce: 'n' }))
    expect((await consent(visitor, page, { [name]: 'all' })).status).toBe(400)
    expect((await consent(visitor, page)).status).toBe(303)
  },
)

test('the fields of Gitea alone answer the request that they are about', async () => {
  const { visitor, app } = await newParty(service)
  const page = await visitor.get(authorizePath(app))
  const { client_id = '', redirect_uri = '', state = '' } = consentFields(page)
  const answer = await visitor.post('/login/oauth/grant', { client_id, redirect_uri, state, granted: 'true' })
  expect(sentTo(answer).code).toStartWith('gta_')
})

test('the page of one person is not answered by another, nor without a session', async () => {
  const { visitor, app } = await newParty(service)
  const page = await visitor.get(authorizePath(app))
  const other = await newcomer(service)
  expect((await consent(other.visitor, page)).status).toBe(400)
  expect((await consent(createVisitor(service.url), page)).status).toBe(400)
  await service.context.sql`update oauth_requests set created_at = created_at - interval '2 hours'`
  expect((await consent(visitor, page)).status).toBe(400)
})

test('two requests at once in one browser each get their own answer, in any order', async () => {
  const party = await newParty(service)
  const { visitor, app } = party
  const [first, second] = [newVerifier(), newVerifier()]
  const ask = (verifier: string, nonce: string, state?: string) =>
    visitor.get(
      authorizePath(app, {
        scope: 'openid',
        nonce,
        state,
        code_challenge: s256(verifier),
        code_challenge_method: 'S256',
      }),
    )
  const pages = [await ask(first, 'one'), await ask(second, 'two')]
  const codes: string[] = []
  for (const page of pages.toReversed()) codes.unshift(sentTo(await consent(visitor, page)).code ?? '')
  const bodies = []
  for (const [index, verifier] of [first, second].entries())
    bodies.push(tokensIn(await exchange(party, codes[index] ?? '', { code_verifier: verifier })).body)
  const nonces = bodies.map(({ id_token: token }) => JSON.parse(atob(String(token).split('.')[1] ?? '')).nonce)
  expect(nonces).toEqual(['one', 'two'])
})

test('who allowed it once is asked again only for more', async () => {
  const party = await newParty(service)
  const { visitor, app } = party
  await codeFor(party, { scope: 'openid write:repository' })
  for (const scope of ['openid write:repository', 'write:repository', 'read:repository', ''])
    expect((await visitor.get(authorizePath(app, { scope }))).status).toBe(303)
  for (const scope of ['openid write:repository email', 'write:user', 'all', 'bogus all'])
    expect(isConsentPage(await visitor.get(authorizePath(app, { scope })))).toBe(true)
  await codeFor(party, { scope: 'write:user' })
  expect((await visitor.get(authorizePath(app, { scope: 'write:user write:repository' }))).status).toBe(303)
})

test('a public client is never let through without asking, unless an administrator says so', async () => {
  const party = await newParty(service, isPublic)
  await codeFor(party, challenge)
  expect(isConsentPage(await party.visitor.get(authorizePath(party.app, challenge)))).toBe(true)
  const wider = await codeFor(party, { ...challenge, scope: 'email' })
  expect(wider).toStartWith('gta_')
  const trusted = await register(service.admin, { ...isPublic, skip_secondary_authorization: true })
  const { visitor } = await newcomer(service)
  expect(isConsentPage(await visitor.get(authorizePath(trusted, challenge)))).toBe(true)
  await codeFor({ service, visitor, app: trusted }, challenge)
  expect((await visitor.get(authorizePath(trusted, challenge))).status).toBe(303)
})

test('a token or a password is nobody in front of a browser', async () => {
  const { app, user } = await newParty(service)
  for (const authorization of [`token ${user.token}`, `Basic ${btoa(`${user.name}:${user.password}`)}`]) {
    const answer = await createVisitor(service.url).get(authorizePath(app), { authorization })
    expect(answer.location).toStartWith('/user/login')
  }
})

test('other methods are refused', async () => {
  for (const method of ['PUT', 'DELETE', 'PATCH']) {
    const answer = await fetch(`${service.url}/login/oauth/authorize`, { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST'])
  }
  expect((await fetch(`${service.url}/login/oauth/grant`)).status).toBe(405)
})
