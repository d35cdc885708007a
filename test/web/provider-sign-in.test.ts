import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TOTP } from 'otpauth'
import { users } from '../../db/schema/users.ts'
import { createSession } from '../../src/auth/sessions.ts'
import { startOpenIdProvider, type TestProvider } from '../harness/openid-provider.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { addTestSource, comeBy, leave, newVisitor, whoIs } from './provider-stage.ts'

let service: TestService
let provider: TestProvider
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  provider = await startOpenIdProvider()
  service = await startTestService({
    clock,
    checksContract: false,
    settings: { AUTH_SOURCE_ALLOWED_HOSTS: 'loopback' },
  })
  await addTestSource(service, provider)
})
afterAll(async () => {
  await service.stop()
  provider.stop()
})
afterEach(() => {
  provider.twist = {}
})

let counter = 0
/** Somebody whom nobody has seen here. */
function somebody(more: Record<string, unknown> = {}) {
  counter += 1
  const name = `person${counter}`
  provider.person = {
    sub: `sub-${counter}`,
    preferred_username: name,
    name: 'Per Son',
    email: `${name}@corp.example`,
    email_verified: true,
    ...more,
  }
  return { ...provider.person, name }
}
const sqlOf = () => service.context.sql

describe('signing in by a provider', () => {
  test('makes an account the first time, and leads back to it', async () => {
    const { sub, name } = somebody()
    const visitor = newVisitor(service)
    expect((await visitor.get('/user/login')).text).toContain('Sign in with Corp &lt;ID&gt;')
    const first = await comeBy(visitor, { query: '?redirect_to=/user/settings' })
    expect([first.status, first.location]).toEqual([303, '/user/settings'])
    expect(await whoIs(visitor)).toBe(name)
    const sent = Object.fromEntries(provider.lastRequest)
    expect(sent).toMatchObject({ response_type: 'code', scope: 'openid profile email', code_challenge_method: 'S256' })
    expect(sent.redirect_uri).toBe(`${service.url}/user/oauth2/corp/callback`)
    const user = await service.admin.client.get(`/users/${name}`)
    expect(user.body).toMatchObject({ login_name: sub, full_name: 'Per Son', email: `${name}@corp.example` })
    expect(user.number('source_id')).toBeGreaterThan(0)
    expect((await service.anonymous.get(`/users/${name}`)).body).toMatchObject({ login_name: '', source_id: 0 })
    expect(user.string('last_login')).toBe(`${clock.now().toISOString().slice(0, 19)}Z`)
    const again = newVisitor(service)
    expect((await comeBy(again)).location).toBe('/')
    expect(await whoIs(again)).toBe(name)
    const [session] = await sqlOf()`select method from sessions order by id desc limit 1`
    expect(session?.method).toBe('provider')
  })

  test('gives a new session each time, and ends the one that was there', async () => {
    somebody()
    const visitor = newVisitor(service)
    await comeBy(visitor)
    const before = visitor.cookie('hearth_session')
    await comeBy(visitor)
    expect(visitor.cookie('hearth_session')).not.toBe(before)
    visitor.cookies.set('hearth_session', before ?? '')
    expect(await whoIs(visitor)).toBe(401)
  })

  test('says when the person showed who they are, as the provider knows it', async () => {
    const auth_time = Math.floor(Date.now() / 1000) - 7200
    const { name } = somebody({ auth_time })
    const visitor = newVisitor(service)
    await comeBy(visitor)
    const [session] = await sqlOf()<{ at: Date }[]>`
      select s.authenticated_at as at from sessions s join users u on u.id = s.user_id where u.name = ${name}`
    expect(session?.at.getTime()).toBe(auth_time * 1000)
    // Too old for what would give the account away: the provider is told to ask.
    const asked = await visitor.get('/user/settings/security')
    expect(asked.location).toContain('/user/login?prompt=login')
    const page = await visitor.get(asked.location)
    const [, path = ''] = /href="(\/user\/oauth2\/corp[^"]*)"/.exec(page.text) ?? []
    expect(path).toContain('prompt=login')
    provider.person = { ...provider.person, auth_time: Math.floor(Date.now() / 1000) + 900 }
    await comeBy(visitor, { query: path.replaceAll('&amp;', '&').replace('/user/oauth2/corp', '') })
    expect(provider.lastRequest.get('prompt')).toBe('login')
    expect((await visitor.get('/user/settings/security')).status).toBe(200)
  })

  test('asks for the second factor of the account, which the connection has to outlive', async () => {
    const { name } = somebody()
    const visitor = newVisitor(service)
    await comeBy(visitor)
    const enrolling = await visitor.get('/user/settings/security/two_factor/enroll')
    const [, seed = ''] = /<code>([A-Z2-7]+)<\/code>/.exec(enrolling.text) ?? []
    const code = () => {
      clock.time += 30_000
      return new TOTP({ secret: seed }).generate({ timestamp: clock.time })
    }
    await visitor.post('/user/settings/security/two_factor/enroll', { passcode: code() })
    const second = newVisitor(service)
    const asked = await comeBy(second, { query: '?redirect_to=/user/settings' })
    expect(asked.location).toBe('/user/two_factor?redirect_to=%2Fuser%2Fsettings')
    expect(await whoIs(second)).toBe(401)
    expect((await second.post('/user/two_factor', { passcode: '000000' })).status).toBe(422)
    const right = await second.post('/user/two_factor', { passcode: code(), redirect_to: '/user/settings' })
    expect([right.location, await whoIs(second)]).toEqual(['/user/settings', name])
    const third = newVisitor(service)
    await comeBy(third)
    await sqlOf()`update auth_sources set is_active = false`
    expect((await third.post('/user/two_factor', { passcode: code() })).location).toBe('/user/login')
    await sqlOf()`update auth_sources set is_active = true`
    await comeBy(third)
    await sqlOf()`delete from external_identities where user_id = (select id from users where name = ${name})`
    expect((await third.post('/user/two_factor', { passcode: code() })).location).toBe('/user/login')
  })

  test('gives no session for a connection that is taken away at that moment', async () => {
    const { name } = somebody()
    await comeBy(newVisitor(service))
    const { context } = service
    const [user] = await context.db.select().from(users).where(eq(users.name, name))
    if (!user) throw new Error('there is no account')
    const [identity] = await sqlOf()<{ id: number }[]>`select id from external_identities where user_id = ${user.id}`
    const origin = { address: undefined, route: 'GET /', requestId: 'x' }
    const signIn = { user, method: 'provider', isRemembered: false, origin, identityId: identity?.id } as const
    expect(await createSession(context, signIn)).toBeDefined()
    let late: ReturnType<typeof createSession> | undefined
    await sqlOf().begin(async (leaving) => {
      await leaving`select 1 from users where id = ${user.id} for update`
      late = createSession(context, signIn)
      await until(async () => {
        const [row] = await sqlOf()<{ waiting: number }[]>`select count(*)::int as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`
        return row?.waiting === 1
      }, 'the sign-in waits for the account')
      await leaving`delete from external_identities where user_id = ${user.id}`
    })
    expect(await late).toBeUndefined()
  })

  test('is refused to accounts that may not enter, and opens none of them', async () => {
    for (const change of [{ prohibit_login: true }, { active: false }]) {
      const { sub, name } = somebody()
      await comeBy(newVisitor(service))
      await service.admin.client.patch(`/admin/users/${name}`, { login_name: sub, ...change })
      const visitor = newVisitor(service)
      const refused = await comeBy(visitor)
      expect([refused.status, visitor.cookie('hearth_session')]).toEqual([403, undefined])
      const seen = (await service.admin.client.get(`/users/${name}`)).body
      expect(seen).toMatchObject('active' in change ? change : { prohibit_login: true })
    }
  })

  test.each(['//evil.example', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)', '/\t/evil.example'])(
    'leads home in place of %j',
    async (target) => {
      somebody()
      const visitor = newVisitor(service)
      expect((await comeBy(visitor, { query: `?redirect_to=${encodeURIComponent(target)}` })).location).toBe('/')
    },
  )

  test('is not begun by a page of another site, and a source that is off or unknown is not there', async () => {
    somebody()
    const visitor = newVisitor(service)
    const elsewhere = await visitor.get('/user/oauth2/corp?redirect_to=/user/settings', {
      'sec-fetch-site': 'cross-site',
    })
    expect(elsewhere.location).toBe('/user/login?redirect_to=%2Fuser%2Fsettings')
    for (const path of ['/user/oauth2/nobody', '/user/oauth2/nobody/callback', '/user/oauth2/%00'])
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404])
    const back = await leave(visitor)
    await sqlOf()`update auth_sources set is_active = false`
    expect((await visitor.get('/user/login')).text).not.toContain('Corp')
    expect([(await visitor.get('/user/oauth2/corp')).status, (await visitor.get(back)).status]).toEqual([404, 404])
    await sqlOf()`update auth_sources set is_active = true`
  })

  test('without the claim that the source asks for leads nowhere', async () => {
    await sqlOf()`update auth_sources set required_claim = 'roles', required_value = 'git'`
    somebody({ roles: ['mail'] })
    const visitor = newVisitor(service)
    expect((await comeBy(visitor)).status).toBe(403)
    provider.person = { ...provider.person, roles: ['mail', 'git'] }
    expect((await comeBy(visitor)).status).toBe(303)
    await sqlOf()`update auth_sources set required_value = null`
    const { roles: _, ...without } = provider.person
    provider.person = without
    expect((await comeBy(newVisitor(service))).status).toBe(403)
    await sqlOf()`update auth_sources set required_claim = null`
  })
})

describe('somebody new', () => {
  test('whose name is taken chooses another, and keeps the address that the provider has confirmed', async () => {
    const taken = await service.createUser()
    const { sub } = somebody({ preferred_username: taken.name })
    const visitor = newVisitor(service)
    const answer = await comeBy(visitor, { query: '?redirect_to=/user/settings' })
    expect(answer.location).toBe('/user/link_account')
    expect(await whoIs(visitor)).toBe(401)
    const page = await visitor.get('/user/link_account')
    expect(page.text).toContain(`value="${taken.name}"`)
    const refused = await visitor.post('/user/link_account_signup', { user_name: taken.name })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('already exists')
    for (const name of ['', '.', 'api']) {
      const again = await visitor.post('/user/link_account_signup', { user_name: name })
      expect([name, again.status]).toEqual([name, 422])
    }
    const made = await visitor.post('/user/link_account_signup', {
      user_name: `${taken.name}-2`,
      email: 'x@evil.example',
    })
    expect([made.status, made.location]).toEqual([303, '/user/settings'])
    const user = await service.admin.client.get(`/users/${taken.name}-2`)
    expect(user.body).toMatchObject({ login_name: sub, email: provider.person.email })
    expect((await visitor.get('/user/link_account')).status).toBe(400)
    const third = await visitor.post('/user/link_account_signup', { user_name: 'third' })
    expect(third.status).toBe(400)
  })

  test('whose address is somebody’s is nobody’s by that', async () => {
    const victim = await service.createUser()
    somebody({ email: `${victim.name}@localhost.localdomain` })
    const visitor = newVisitor(service)
    expect((await comeBy(visitor)).location).toBe('/user/link_account')
    expect(await whoIs(visitor)).toBe(401)
    const refused = await visitor.post('/user/link_account_signup', { user_name: 'thief' })
    expect(refused.text).toContain('already in use')
    expect(await sqlOf()`select 1 from external_identities where subject = ${provider.person.sub}`).toHaveLength(0)
  })

  test('without an address gives one, which nobody has confirmed', async () => {
    const { name } = somebody({ email: undefined, email_verified: undefined })
    const visitor = newVisitor(service)
    expect((await comeBy(visitor)).location).toBe('/user/link_account')
    const answer = await visitor.post('/user/link_account_signup', { user_name: name, email: 'nonsense' })
    expect([answer.status, answer.text.includes('is no e-mail address')]).toEqual([422, true])
    await visitor.post('/user/link_account_signup', { user_name: name, email: `${name}@home.example` })
    expect(await whoIs(visitor)).toBe(name)
    const [row] = await sqlOf()`select is_proven as proven from emails where email = ${`${name}@home.example`}`
    expect(row?.proven).toBe(false)
  })

  test.each([
    ['closed', '/user/link_account', false],
    ['ask', '/user/link_account', true],
    ['automatic', '/', true],
    ['site', '/', true],
  ])('where registration is %s', async (registration, location, isOffered) => {
    await sqlOf()`update auth_sources set registration = ${registration}`
    const { name } = somebody()
    const visitor = newVisitor(service)
    expect((await comeBy(visitor)).location).toBe(location)
    if (location !== '/') {
      const page = await visitor.get('/user/link_account')
      expect(page.text.includes('I am new here')).toBe(isOffered)
      const made = await visitor.post('/user/link_account_signup', { user_name: name })
      expect(made.status).toBe(isOffered ? 303 : 403)
    }
    expect(await whoIs(visitor)).toBe(isOffered ? name : 401)
    await sqlOf()`update auth_sources set registration = 'site'`
  })

  test('at several places at once gets one account', async () => {
    const { name, sub } = somebody()
    const visitors = Array.from({ length: 6 }, () => newVisitor(service))
    const backs = await Promise.all(visitors.map((visitor) => leave(visitor)))
    const answers = await Promise.all(visitors.map((visitor, index) => visitor.get(backs[index] ?? '')))
    expect(answers.map(({ status, location }) => `${status} ${location}`)).toEqual(Array(6).fill('303 /'))
    expect(await Promise.all(visitors.map(whoIs))).toEqual(Array(6).fill(name))
    expect(await sqlOf()`select 1 from external_identities where subject = ${sub}`).toHaveLength(1)
  })
})

describe('what a provider says of somebody', () => {
  const profileAfterAsking = async () => {
    await sqlOf()`update auth_sources set registration = 'ask'`
    const answer = await comeBy(newVisitor(service))
    await sqlOf()`update auth_sources set registration = 'site'`
    expect([answer.status, answer.location]).toEqual([303, '/user/link_account'])
    const [row] = await sqlOf()`select profile, label from pending_identities where subject = ${provider.person.sub}`
    return { ...row?.profile, label: row?.label }
  }

  test('is shortened where it is only shown, and never in the middle of a character', async () => {
    const face = '\u{1f600}'
    somebody({ name: `${'a'.repeat(99)}${face}`, preferred_username: `${'b'.repeat(254)}${face}` })
    expect(await profileAfterAsking()).toMatchObject({ fullName: 'a'.repeat(99), label: 'b'.repeat(254) })
    somebody({ name: 'a\u0000\ud800b', preferred_username: ['x'] })
    expect(await profileAfterAsking()).toMatchObject({ fullName: 'a\ufffdb', label: provider.person.email })
  })

  test.each([
    ['by the id token, and another by userinfo', { email: 'a@corp.example', email_verified: undefined }, {}, false],
    ['by both, and confirmed by userinfo', { email_verified: undefined }, {}, true],
    ['by both, and confirmed by userinfo only', { email_verified: false }, {}, false],
    ['by userinfo, which does not confirm it', { email: undefined }, { email_verified: false }, false],
    ['by userinfo, which says nothing of it', { email: undefined }, { email_verified: undefined }, false],
    ['by userinfo, which confirms it', { email: undefined, email_verified: undefined }, {}, true],
    ['by both, and confirmed in words', { email_verified: 'true' }, { email_verified: 'true' }, false],
  ])('of an address counts for that one: named %s', async (_, idToken, userinfo, isEmailVerified) => {
    somebody()
    provider.twist = { idToken, userinfo }
    expect(await profileAfterAsking()).toMatchObject({ isEmailVerified })
  })

  test.each([
    ['a list', ['victim@corp.example']],
    ['changed', 'vic\u0000tim@corp.example'],
  ])('of an address counts as it is: %s', async (_, email) => {
    somebody({ email })
    expect(await profileAfterAsking()).toMatchObject({ email: '', isEmailVerified: false })
  })

  test('of its rights counts only as it is', async () => {
    await sqlOf()`update auth_sources set required_claim = 'roles', required_value = 'git'`
    for (const roles of ['g\u0000it', ['gi\nt'], [['git']], { git: 'git' }, 'Git', ' git', null]) {
      somebody({ roles })
      expect([roles, (await comeBy(newVisitor(service))).status]).toEqual([roles, 403])
    }
    const long = 'r'.repeat(255)
    await sqlOf()`update auth_sources set required_value = ${long}`
    somebody({ roles: `${long}-of-others` })
    expect((await comeBy(newVisitor(service))).status).toBe(403)
    await sqlOf()`update auth_sources set required_claim = null, required_value = null`
  })
})

describe('connecting', () => {
  test('takes a sign-in here and one there, at the first sign-in by a provider', async () => {
    const user = await service.createUser()
    somebody({ preferred_username: user.name })
    const visitor = newVisitor(service)
    await comeBy(visitor, { query: '?redirect_to=/user/settings/sessions' })
    const anonymous = await visitor.post('/user/link_account_signin')
    expect(anonymous.location).toBe('/user/login')
    const way = await visitor.get('/user/link_account_signin')
    const signedIn = await visitor.post(way.location, { user_name: user.name, password: user.password })
    expect(signedIn.location).toBe('/user/link_account')
    const page = await visitor.get('/user/link_account')
    expect(page.text).toContain(`Connect with ${user.name}`)
    const foreign = await visitor.post('/user/link_account_signin', {}, { 'sec-fetch-site': 'cross-site' })
    expect(foreign.status).toBe(403)
    const done = await visitor.post('/user/link_account_signin')
    expect(done.location).toBe('/user/settings/sessions')
    expect((await service.admin.client.get(`/users/${user.name}`)).number('source_id')).toBe(0)
    const other = newVisitor(service)
    await comeBy(other)
    expect(await whoIs(other)).toBe(user.name)
    const trail = await service.admin.client.get('/admin/audit', { action: 'external_identity.create' })
    expect([trail.status, trail.text.includes(user.name)]).toEqual([200, true])
  })

  test('takes a sign-in of this hour, and the account that is shown', async () => {
    const user = await service.createUser()
    const visitor = newVisitor(service)
    await visitor.signIn(user)
    somebody()
    const back = await comeBy(visitor, { query: '?connect=1' })
    expect([back.location, await whoIs(visitor)]).toEqual(['/user/link_account', user.name])
    clock.time += 3 * 3_600_000
    const late = await visitor.post('/user/link_account_signin')
    expect(late.location).toContain('/user/login?prompt=login')
    expect(await sqlOf()`select 1 from external_identities where subject = ${provider.person.sub}`).toHaveLength(0)
  })

  test('is undone in the settings, unless it is the only way in', async () => {
    const { name } = somebody()
    const visitor = newVisitor(service)
    await comeBy(visitor)
    const page = await visitor.get('/user/settings/security')
    const [, id = ''] = /name="id" value="(\d+)"/.exec(page.text) ?? []
    const refused = await visitor.post('/user/settings/security/account_link', { id })
    expect([refused.status, refused.text.includes('choose a password first')]).toEqual([422, true])
    const stranger = newVisitor(service)
    await stranger.signIn(await service.createUser())
    expect((await stranger.post('/user/settings/security/account_link', { id })).status).toBe(404)
    const password = 'correct horse battery'
    await visitor.post('/user/settings/change_password', { password, retype: password })
    const undone = await visitor.post('/user/settings/security/account_link', { id })
    expect(undone.location).toBe('/user/settings/security?done=disconnected')
    expect((await service.admin.client.get(`/users/${name}`)).body).toMatchObject({ source_id: 0, login_name: '' })
    const elsewhere = newVisitor(service)
    expect((await comeBy(elsewhere)).location).toBe('/user/link_account')
    await elsewhere.signIn({ name, password })
    expect(await whoIs(elsewhere)).toBe(name)
  })

  test('of one person with two accounts at once connects one', async () => {
    const { sub } = somebody()
    const [one, two] = [newVisitor(service), newVisitor(service)]
    for (const visitor of [one, two]) {
      await visitor.signIn(await service.createUser())
      await comeBy(visitor, { query: '?connect=1' })
    }
    const answers = await Promise.all([one, two].map((visitor) => visitor.post('/user/link_account_signin')))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422])
    expect(await sqlOf()`select 1 from external_identities where subject = ${sub}`).toHaveLength(1)
  })

  test('with a source that is off is no way in that would be left', async () => {
    somebody()
    const visitor = newVisitor(service)
    await comeBy(visitor)
    const other = await addTestSource(service, provider, { name: 'other' })
    await comeBy(visitor, { name: 'other', query: '?connect=1' })
    await visitor.post('/user/link_account_signin')
    const disconnect = async () => {
      const ids = await sqlOf()<{ id: number }[]>`select id from external_identities
        where subject = ${provider.person.sub} and source_id <> ${other.id}`
      return visitor.post('/user/settings/security/account_link', { id: String(ids[0]?.id) })
    }
    await sqlOf()`update auth_sources set is_active = false where id = ${other.id}`
    expect((await disconnect()).status).toBe(422)
    await sqlOf()`update auth_sources set is_active = true where id = ${other.id}`
    expect((await disconnect()).location).toContain('done=disconnected')
    await sqlOf()`delete from auth_sources where id = ${other.id} and id not in (select source_id from users where source_id is not null)`
  })

  test('never moves somebody from one account to another', async () => {
    const { name } = somebody()
    await comeBy(newVisitor(service))
    const user = await service.createUser()
    const visitor = newVisitor(service)
    await visitor.signIn(user)
    const taken = await comeBy(visitor, { query: '?connect=1' })
    expect([taken.location, await whoIs(visitor)]).toEqual(['/user/settings/security?done=not_connected', user.name])
    somebody()
    await comeBy(visitor, { query: '?connect=1' })
    await visitor.post('/user/link_account_signin')
    somebody()
    await comeBy(visitor, { query: '?connect=1' })
    const second = await visitor.post('/user/link_account_signin')
    expect([second.status, second.text.includes('disconnect that first')]).toEqual([422, true])
    expect(name).not.toBe(user.name)
  })
})

test('an account without a password has none to guess, and chooses one after a sign-in of this hour', async () => {
  const { name } = somebody()
  const visitor = newVisitor(service)
  await comeBy(visitor)
  for (const password of ['', 'x'])
    expect((await newVisitor(service).post('/user/login', { user_name: name, password })).status).toBe(422)
  expect((await service.client({ basic: `${name}:` }).get('/user')).status).toBe(401)
  clock.time += 2 * 3_600_000
  const fields = { password: 'correct horse battery', retype: 'correct horse battery' }
  expect((await visitor.get('/user/settings/change_password')).location).toContain('prompt=login')
  clock.time += 2 * 3_600_000
  expect((await visitor.post('/user/settings/change_password', fields)).location).toContain('prompt=login')
  await comeBy(visitor)
  expect((await visitor.post('/user/settings/change_password', fields)).location).toContain('done=password')
  await newVisitor(service).signIn({ name, password: fields.password })
})
