import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createServer } from 'node:http'
import { deleteSource } from '../../src/features/auth-sources/sources.ts'
import { sha256Hex } from '../../src/kernel/hashing.ts'
import { listen } from '../harness/listen.ts'
import { startOpenIdProvider, type TestProvider, type Twist } from '../harness/openid-provider.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { addTestSource, comeBy, leave, newVisitor, whoIs } from './provider-stage.ts'

let service: TestService
let provider: TestProvider
let other: TestProvider
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  ;[provider, other] = await Promise.all([startOpenIdProvider(), startOpenIdProvider({ announcesIssuer: false })])
  service = await startTestService({
    clock,
    checksContract: false,
    settings: { AUTH_SOURCE_ALLOWED_HOSTS: '127.0.0.1' },
  })
  await addTestSource(service, provider)
  await addTestSource(service, other, { name: 'other' })
})
afterAll(async () => {
  await service.stop()
  provider.stop()
  other.stop()
})
let counter = 0
beforeEach(() => {
  counter += 1
  const name = `person${counter}`
  provider.person = {
    sub: `sub-${counter}`,
    preferred_username: name,
    email: `${name}@corp.example`,
    email_verified: true,
  }
  other.person = { ...provider.person }
})
afterEach(() => {
  provider.twist = {}
  other.twist = {}
})

async function expectNobody(visitor: ReturnType<typeof newVisitor>): Promise<void> {
  expect([await whoIs(visitor), visitor.cookie('hearth_session'), visitor.cookie('hearth_newcomer')]).toEqual([
    401,
    undefined,
    undefined,
  ])
  const { sql } = service.context
  expect(await sql`select 1 from external_identities where subject = ${provider.person.sub}`).toHaveLength(0)
}

const now = () => Math.floor(Date.now() / 1000)
const twists: [string, () => Twist][] = [
  ['another state', () => ({ back: { state: 'x'.repeat(43) } })],
  ['no state', () => ({ back: { state: undefined } })],
  ['another issuer on the way back', () => ({ back: { iss: other.issuer } })],
  ['no issuer on the way back, though one was announced', () => ({ back: { iss: undefined } })],
  ['another code', () => ({ back: { code: 'f'.repeat(32) } })],
  ['no code', () => ({ back: { code: undefined } })],
  ['another nonce', () => ({ idToken: { nonce: 'x'.repeat(43) } })],
  ['no nonce', () => ({ idToken: { nonce: undefined } })],
  ['a token for another client', () => ({ idToken: { aud: 'somebody-else' } })],
  ['a token of another issuer', () => ({ idToken: { iss: other.issuer } })],
  ['a token that has expired', () => ({ idToken: { exp: now() - 120 } })],
  ['a token without an end', () => ({ idToken: { exp: undefined } })],
  ['a token that is not valid yet', () => ({ idToken: { nbf: now() + 600 } })],
  ['a token without a subject', () => ({ idToken: { sub: undefined } })],
  ['a subject that is no text', () => ({ idToken: { sub: 7 } })],
  ['a token signed with a key that nobody has published', () => ({ isForged: true })],
  ['a token without a signature', () => ({ algorithm: 'none' })],
  ['a token signed with the client secret', () => ({ algorithm: 'HS256 by the client secret' })],
  ['a token signed with the public key as a secret', () => ({ algorithm: 'HS256 by the public key' })],
  ['a token for us and others, without the party it is for', () => ({ idToken: { aud: ['hearth', 'else'] } })],
  ['a token for us and others, whose party is another', () => ({ idToken: { aud: ['hearth', 'else'], azp: 'else' } })],
  ['a token for nobody', () => ({ idToken: { aud: [] } })],
  ['userinfo of somebody else', () => ({ userinfo: { sub: 'victim' } })],
  ['a subject with a control character', () => ({ idToken: { sub: 'a\u0000b' }, userinfo: { sub: 'a\u0000b' } })],
  ['a subject that is too long', () => ({ idToken: { sub: 'a'.repeat(256) }, userinfo: { sub: 'a'.repeat(256) } })],
]

test.each(twists)('%s lets nobody in', async (_, twist) => {
  provider.twist = twist()
  const visitor = newVisitor(service)
  const answer = await comeBy(visitor)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
  expect(answer.text).not.toContain('sub-')
  await expectNobody(visitor)
})

test.each(['none', 'HS256 by the client secret', 'HS256 by the public key'] as const)(
  'signatures of the kind %s let nobody in, also where the provider announces them',
  async (algorithm) => {
    clock.time += 3_601_000
    provider.twist = { algorithm, metadata: { id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'] } }
    const visitor = newVisitor(service)
    expect((await comeBy(visitor)).status).toBe(400)
    await expectNobody(visitor)
    clock.time += 3_601_000
  },
)

test.each(['token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
  'a provider whose %s is a place inside makes this service ask nobody there',
  async (endpoint) => {
    let asked = 0
    const inside = createServer((_, reply) => {
      asked += 1
      reply.end('{}')
    })
    const port = await listen(inside, '127.0.0.2')
    try {
      clock.time += 3_601_000
      provider.twist = { metadata: { [endpoint]: `http://127.0.0.2:${port}/` } }
      const visitor = newVisitor(service)
      const answer = await comeBy(visitor)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30'])
      await expectNobody(visitor)
      expect(asked).toBe(0)
    } finally {
      inside.close()
      clock.time += 3_601_000
    }
  },
)

test.each([
  ['state', (url: URL) => url.searchParams.append('state', url.searchParams.get('state') ?? '')],
  ['code', (url: URL) => url.searchParams.append('code', 'another')],
])('%s twice lets nobody in', async (_, change) => {
  const visitor = newVisitor(service)
  const back = new URL(await leave(visitor))
  change(back)
  expect((await visitor.get(back.href)).status).toBe(400)
  await expectNobody(visitor)
})

test('a no of the provider is told, as a text', async () => {
  provider.twist = { back: { code: undefined, error: 'access_denied<script>', error_description: 'x' } }
  const visitor = newVisitor(service)
  const answer = await comeBy(visitor)
  expect([answer.status, answer.text.includes('access_denied&lt;script&gt;')]).toEqual([403, true])
  await expectNobody(visitor)
})

test('an answer in another browser, or in none that has begun, is refused', async () => {
  const [mine, theirs, late] = [newVisitor(service), newVisitor(service), newVisitor(service)]
  const back = await leave(mine)
  const stranger = newVisitor(service)
  expect((await stranger.get(back)).status).toBe(400)
  // Somebody is made to follow the answer of another's sign-in while theirs goes on.
  await leave(theirs)
  expect((await theirs.get(back)).status).toBe(400)
  await expectNobody(theirs)
  theirs.cookies.set('hearth_provider', 'nonsense')
  expect((await theirs.get(back)).status).toBe(400)
  const tooLate = await leave(late)
  clock.time += 901_000
  expect((await late.get(tooLate)).status).toBe(400)
  await expectNobody(late)
})

test('an answer is taken once, also where the provider would give tokens for it again', async () => {
  provider.twist = { codesLast: true }
  const visitor = newVisitor(service)
  const back = await leave(visitor)
  const flow = visitor.cookie('hearth_provider') ?? ''
  const copies = Array.from({ length: 5 }, () => {
    const copy = newVisitor(service)
    copy.cookies.set('hearth_provider', flow)
    return copy
  })
  const statuses = (await Promise.all(copies.map((copy) => copy.get(back)))).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([303, 400, 400, 400, 400])
  const later = newVisitor(service)
  later.cookies.set('hearth_provider', flow)
  expect((await later.get(back)).status).toBe(400)
  expect(provider.asked.filter((path) => path === '/token').length).toBeGreaterThan(0)
})

test('an answer of one provider is none of another (mix-up)', async () => {
  const visitor = newVisitor(service)
  const back = await leave(visitor)
  const before = other.asked.length
  // The other one says nothing of issuers: its own address tells the two apart.
  const moved = new URL(back.replace('/oauth2/corp/', '/oauth2/other/'))
  moved.searchParams.delete('iss')
  expect((await visitor.get(moved.href)).status).toBe(400)
  expect(other.asked.length).toBe(before)
  // The same subject there is somebody else here.
  await comeBy(visitor)
  const first = await whoIs(visitor)
  other.person = { ...provider.person }
  const second = newVisitor(service)
  expect((await comeBy(second, { name: 'other' })).location).toBe('/user/link_account')
  expect([first, await whoIs(second)]).toEqual([String(provider.person.preferred_username), 401])
})

test('a source that is deleted midway lets nobody in', async () => {
  const doomed = await addTestSource(service, provider, { name: 'doomed', registration: 'ask' })
  const remove = () => deleteSource(service.context, { source: doomed, isReleasing: false }, 'command line')
  const [visitor, waiting] = [newVisitor(service), newVisitor(service)]
  expect((await comeBy(waiting, { name: 'doomed' })).location).toBe('/user/link_account')
  const back = await leave(visitor, { name: 'doomed' })
  provider.twist = { beforeTokens: async () => void (await remove()) }
  // It was there when the answer came, and is gone when the provider has answered.
  expect((await visitor.get(back)).status).toBe(404)
  expect(await whoIs(visitor)).toBe(401)
  expect((await waiting.get('/user/link_account')).status).toBe(400)
  expect((await waiting.post('/user/link_account_signup', { user_name: 'late' })).status).toBe(400)
})

test('who waits is not found without what their browser has, nor too late, and is forgotten', async () => {
  const { sql } = service.context
  await sql`update auth_sources set registration = 'ask' where name = 'corp'`
  const visitor = newVisitor(service)
  await comeBy(visitor)
  const handle = visitor.cookie('hearth_newcomer') ?? ''
  const stranger = newVisitor(service)
  for (const guess of ['', 'x', '0'.repeat(64), sha256Hex(handle)]) {
    stranger.cookies.set('hearth_newcomer', guess)
    expect((await stranger.get('/user/link_account')).status).toBe(400)
  }
  const names = ['one-of-them', 'another-one']
  const copy = newVisitor(service)
  copy.cookies.set('hearth_newcomer', handle)
  const made = await Promise.all(
    [visitor, copy].map((one, index) => one.post('/user/link_account_signup', { user_name: names[index] ?? '' })),
  )
  expect(made.map(({ status }) => status).filter((status) => status === 303)).toHaveLength(1)
  expect(await sql`select 1 from users where name = any(${names})`).toHaveLength(1)
  const late = newVisitor(service)
  provider.person = { ...provider.person, sub: 'late', email: 'late@corp.example' }
  await comeBy(late)
  clock.time += 1_801_000
  expect((await late.get('/user/link_account')).status).toBe(400)
  await service.admin.client.post('/admin/cron/delete_expired_newcomers')
  await service.drain()
  expect(await sql`select 1 from pending_identities where subject = 'late'`).toHaveLength(0)
  await sql`update auth_sources set registration = 'site' where name = 'corp'`
})

test('a provider that does not answer, or not as one, is said to be out of reach, and is asked again', async () => {
  clock.time += 3_601_000
  provider.twist = { status: 500 }
  const visitor = newVisitor(service)
  expect((await visitor.get('/user/oauth2/corp')).status).toBe(400)
  provider.twist = {}
  const back = await leave(visitor)
  provider.twist = { status: 503 }
  expect((await visitor.get(back)).status).toBe(400)
  await expectNobody(visitor)
  provider.twist = {}
  const asked = () => provider.asked.filter((path) => path.startsWith('/.well-known')).length
  const before = asked()
  await comeBy(newVisitor(service))
  expect(asked()).toBe(before)
  clock.time += 3_601_000
  await Promise.all([1, 2, 3].map(() => newVisitor(service).get('/user/oauth2/corp')))
  expect(asked()).toBe(before + 1)
})

test('no network asks providers without end', async () => {
  await service.context.sql`delete from request_windows`
  const visitor = newVisitor(service)
  await visitor.get('/user/oauth2/corp')
  await service.context.sql`update request_windows set requests = 600 where caller like 'provider:%'`
  const refused = await visitor.get('/user/oauth2/corp')
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  await service.context.sql`delete from request_windows`
})
