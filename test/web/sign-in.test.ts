import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import { createVisitor, formTokenIn } from '../harness/browser.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  service = await startTestService({ clock, checksContract: false })
  alice = await service.createUser('alice')
})
afterAll(() => service.stop())

const visitor = () => createVisitor(service.url)
const signedIn = async (user = alice) => {
  const browser = visitor()
  await browser.signIn(user)
  return browser
}
const whoAmI = async (browser: ReturnType<typeof visitor>) => {
  const answer = await browser.get('/api/v1/user')
  return answer.status === 200 ? String(JSON.parse(answer.text).login) : answer.status
}

describe('signing in with a password', () => {
  test('gives a session, leads home and is written down', async () => {
    const browser = visitor()
    const form = await browser.get('/user/login')
    expect(form.status).toBe(200)
    expect(form.text).toContain('name="user_name"')
    expect(await whoAmI(browser)).toBe(401)
    const answer = await browser.post('/user/login', { user_name: 'ALICE', password: alice.password })
    expect([answer.status, answer.location]).toEqual([303, '/'])
    expect(answer.headers.getSetCookie()[0]).toMatch(/^hearth_session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(await whoAmI(browser)).toBe('alice')
    expect((await browser.get('/')).text).toContain('alice')
    const seen = await service.admin.client.get('/users/alice')
    expect(seen.string('last_login')).toBe(`${clock.now().toISOString().slice(0, 19)}Z`)
  })

  test('works with a verified address, and can stay', async () => {
    const fields = { user_name: 'alice@localhost.localdomain', password: alice.password, remember: 'true' }
    const answer = await visitor().post('/user/login', fields)
    expect(answer.headers.getSetCookie()[0]).toEndWith('; Max-Age=2592000')
  })

  test('fails in the same words for a wrong password and an unknown name', async () => {
    const browser = visitor()
    const wrong = await browser.post('/user/login', { user_name: 'alice', password: 'wrong' })
    const unknown = await browser.post('/user/login', { user_name: 'alicf', password: 'wrong' })
    expect([wrong.status, unknown.status]).toEqual([422, 422])
    expect(wrong.text).toContain('role="alert"')
    // Each page asks a passkey for something else.
    const withoutChallenge = (text: string) => text.replace(/&quot;challenge&quot;:&quot;[\w-]+&quot;/, '')
    const expected = wrong.text.replace('value="alice"', 'value="alicf"')
    expect(withoutChallenge(unknown.text)).toBe(withoutChallenge(expected))
    expect(wrong.text).not.toContain('wrong"')
    const empty = await browser.post('/user/login', {})
    expect([empty.status, browser.cookies.size]).toEqual([422, 0])
  })

  test('what was typed is shown again as text', async () => {
    const name = `"><script>alert(1)</script>`
    const answer = await visitor().post('/user/login', { user_name: name, password: 'x' })
    expect(answer.text).not.toContain('<script>')
    expect(answer.text).toContain('&lt;script&gt;')
  })

  test('is refused to accounts that may not enter, and leads to a new password where one is demanded', async () => {
    const closed = await service.createUser()
    await service.admin.client.patch(`/admin/users/${closed.name}`, { login_name: closed.name, prohibit_login: true })
    const refused = await visitor().post('/user/login', { user_name: closed.name, password: closed.password })
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []])
    expect(refused.text).toContain('prohibited')
    expect(refused.headers.get('content-type')).toStartWith('text/html')
    const beginner = await service.createUser()
    const demand = { login_name: beginner.name, must_change_password: true }
    await service.admin.client.patch(`/admin/users/${beginner.name}`, demand)
    const browser = await signedIn(beginner)
    expect(await whoAmI(browser)).toBe(403)
    expect((await browser.get('/')).status).toBe(200)
  })
})

describe('the second factor', () => {
  async function enrolled() {
    const user = await service.createUser()
    const basic = service.client({ basic: `${user.name}:${user.password}` })
    const totp = new TOTP({ secret: (await basic.post('/user/two_factor')).string('secret') })
    const nextCode = () => {
      clock.time += 30_000
      return totp.generate({ timestamp: clock.time })
    }
    const confirmed = await basic.post('/user/two_factor/confirm', { code: nextCode() })
    const [recoveryCode = ''] = confirmed.text.match(/[0-9a-f]{5}(-[0-9a-f]{5}){3}/) ?? []
    return { user, nextCode, recoveryCode }
  }

  test('is asked for in a second step, before there is a session', async () => {
    const { user, nextCode } = await enrolled()
    const browser = visitor()
    const first = await browser.post('/user/login', {
      user_name: user.name,
      password: user.password,
      redirect_to: '/api/v1/user',
    })
    expect([first.status, first.location]).toEqual([303, '/user/two_factor?redirect_to=%2Fapi%2Fv1%2Fuser'])
    expect(browser.cookie('hearth_session')).toBeUndefined()
    expect(await whoAmI(browser)).toBe(401)
    const form = await browser.get(first.location)
    expect(form.text).toContain('name="passcode"')
    const wrong = await browser.post('/user/two_factor', { passcode: '000000' })
    expect([wrong.status, browser.cookie('hearth_session')]).toEqual([422, undefined])
    const fields = { passcode: nextCode(), redirect_to: '/api/v1/user' }
    const right = await browser.post('/user/two_factor', fields)
    expect([right.status, right.location]).toEqual([303, '/api/v1/user'])
    expect(browser.cookie('hearth_sign_in')).toBeUndefined()
    expect(await whoAmI(browser)).toBe(user.name)
    const [session] = await service.context.sql`select method from sessions order by id desc limit 1`
    expect(session?.method).toBe('two_factor')
  })

  test('takes a recovery code, once', async () => {
    const { user, recoveryCode } = await enrolled()
    const browser = visitor()
    await browser.signIn(user, recoveryCode)
    expect(await whoAmI(browser)).toBe(user.name)
    const other = visitor()
    await other.signIn(user)
    expect((await other.post('/user/two_factor', { passcode: recoveryCode })).status).toBe(422)
  })

  test('is not asked for without the password, nor after another one or too long', async () => {
    const stranger = await visitor().get('/user/two_factor')
    expect([stranger.status, stranger.location]).toEqual([303, '/user/login'])
    const { user, nextCode } = await enrolled()
    const late = visitor()
    await late.signIn(user)
    clock.time += 601_000
    expect((await late.post('/user/two_factor', { passcode: nextCode() })).location).toBe('/user/login')
    const changed = visitor()
    await changed.signIn(user)
    const password = 'another horse battery'
    await service.admin.client.patch(`/admin/users/${user.name}`, { login_name: user.name, password })
    expect((await changed.post('/user/two_factor', { passcode: nextCode() })).location).toBe('/user/login')
    expect(await whoAmI(changed)).toBe(401)
  })
})

test('guessing is slowed down on the form as it is elsewhere, and the second factor passes all the same', async () => {
  const { name, password } = await service.createUser()
  const enrolling = service.client({ basic: `${name}:${password}` })
  const totp = new TOTP({ secret: (await enrolling.post('/user/two_factor')).string('secret') })
  await enrolling.post('/user/two_factor/confirm', { code: totp.generate({ timestamp: clock.time }) })
  // From where nobody knows them yet.
  await service.context.sql`delete from sign_in_addresses`
  const browser = visitor()
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt += 1)
    statuses.push((await browser.post('/user/login', { user_name: name, password: `guess ${attempt}` })).status)
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(422))
  expect(statuses.slice(10)).toEqual([429, 429])
  const slowed = await browser.post('/user/login', { user_name: name, password: 'another guess' })
  expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(slowed.text).toContain('name="passcode"')
  const basic = Buffer.from(`${name}:guess`).toString('base64')
  expect((await browser.get('/api/v1/user', { authorization: `Basic ${basic}` })).status).toBe(429)
  const fields = { user_name: name, password, passcode: totp.generate({ timestamp: clock.time + 30_000 }) }
  expect((await browser.post('/user/login', { ...fields, password: 'guess' })).status).toBe(429)
  expect((await browser.post('/user/login', fields)).location).toBe('/')
  expect(await whoAmI(browser)).toBe(name)
})

test('so is trying one password with many names, and guessing codes', async () => {
  const spray = async (index: number) =>
    (await visitor().post('/user/login', { user_name: `nobody${index}`, password: 'Summer2026!' })).status
  const statuses: number[] = []
  for (let index = 0; index < 60; index += 1) statuses.push(await spray(index))
  expect([statuses[0], statuses.at(-1)]).toEqual([422, 429])
  clock.time += 1_900_000
  const user = await service.createUser()
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const totp = new TOTP({ secret: (await basic.post('/user/two_factor')).string('secret') })
  await basic.post('/user/two_factor/confirm', { code: totp.generate({ timestamp: clock.time }) })
  const browser = visitor()
  await browser.signIn(user)
  const codes: number[] = []
  for (let index = 0; index < 12; index += 1)
    codes.push((await browser.post('/user/two_factor', { passcode: String(100_000 + index) })).status)
  expect([codes[0], codes.at(-1)]).toEqual([422, 429])
  clock.time += 1_900_000
})

test.each([
  ['/api/v1/user?a=b#c', '/api/v1/user?a=b#c'],
  ['/login/oauth/authorize?client_id=1&redirect_uri=https%3A%2F%2Fx', null],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['\\\\evil.example', '/'],
  ['https:evil.example', '/'],
  ['https://evil.example/', '/'],
  ['/\t/evil.example', '/'],
  ['/\n/evil.example', '/'],
  ['/.//evil.example', '/'],
  ['/a/..//evil.example', '/'],
  ['//localhost@evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['evil', '/'],
  ['/%2f%2fevil.example', null],
])('after the sign-in, %j leads to a path of the service', async (given, expected) => {
  const fields = { user_name: 'alice', password: alice.password, redirect_to: given }
  expect((await visitor().post('/user/login', fields)).location).toBe(expected ?? given)
  const inQuery = await visitor().post(`/user/login?redirect_to=${encodeURIComponent(given)}`, {
    user_name: 'alice',
    password: alice.password,
  })
  expect(inQuery.location).toBe(expected ?? given)
  const already = await (await signedIn()).get(`/user/login?redirect_to=${encodeURIComponent(given)}`)
  expect([already.status, already.location]).toEqual([303, expected ?? given])
})

describe('a request that another site has made', () => {
  const foreign: [string, Record<string, string>][] = [
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of the same domain', { 'sec-fetch-site': 'same-site' }],
    ['Origin', { origin: 'https://evil.example' }],
    ['an Origin that is hidden', { origin: 'null' }],
  ]

  test.each(foreign)('neither signs in nor out: %s', async (_, headers) => {
    const fields = { user_name: 'alice', password: alice.password }
    const refused = await visitor().post('/user/login', fields, headers)
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []])
    const browser = await signedIn()
    expect((await browser.post('/user/logout', {}, headers)).status).toBe(403)
    expect(await whoAmI(browser)).toBe('alice')
  })

  test.each(foreign)('is taken by no form for visitors: %s', async (_, headers) => {
    const paths = [
      'two_factor',
      'login/passkey',
      'sign_up',
      'activate',
      'activate_email',
      'forgot_password',
      'recover_account',
    ]
    for (const path of paths)
      expect([path, (await visitor().post(`/user/${path}`, {}, headers)).status]).toEqual([path, 403])
  })

  test.each(foreign)('changes nothing over the API: %s', async (_, headers) => {
    const browser = await signedIn()
    const starred = () => browser.post('/api/v1/user/emails', {}, { ...headers, 'content-type': 'application/json' })
    expect((await starred()).status).toBe(403)
  })

  test('is told apart by the token of the form where the browser says nothing', async () => {
    const browser = await signedIn()
    const page = await browser.get('/user/logout')
    expect((await browser.post('/user/logout', {}, {})).status).toBe(403)
    expect((await browser.post('/user/logout', { _csrf: 'x'.repeat(43) }, {})).status).toBe(403)
    const other = formTokenIn(await (await signedIn()).get('/user/logout'))
    expect((await browser.post('/user/logout', { _csrf: other }, {})).status).toBe(403)
    expect(await whoAmI(browser)).toBe('alice')
    const token = formTokenIn(page)
    expect((await browser.post('/user/logout', { _csrf: token }, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await browser.post('/user/logout', { _csrf: token }, {})).status).toBe(303)
    expect(await whoAmI(browser)).toBe(401)
    // Programs that drive the form keep no secret of a page.
    const program = await signedIn()
    expect((await program.post('/user/logout', {}, { 'user-agent': 'python-requests/2.32' })).status).toBe(303)
  })

  test('over the API its token stands in a header', async () => {
    const browser = await signedIn()
    const token = formTokenIn(await browser.get('/user/logout'))
    const block = (headers: Record<string, string>) =>
      fetch(`${service.url}/api/v1/user/settings`, {
        method: 'PATCH',
        headers: {
          'content-type': 'application/json',
          cookie: `hearth_session=${browser.cookie('hearth_session')}`,
          ...headers,
        },
        body: '{"location":"Here"}',
      })
    expect((await block({})).status).toBe(403)
    expect((await block({ 'x-csrf-token': 'nonsense' })).status).toBe(403)
    expect((await block({ 'x-csrf-token': token })).status).toBe(200)
    expect((await block({ origin: new URL(service.url).origin })).status).toBe(200)
    expect((await block({ 'sec-fetch-site': 'same-origin' })).status).toBe(200)
    expect((await block({ 'sec-fetch-site': 'none' })).status).toBe(200)
    // A token in a header is sent by nobody unasked.
    const asked = { 'sec-fetch-site': 'cross-site', authorization: `token ${alice.token}` }
    expect((await block(asked)).status).toBe(200)
  })
})

test('what takes a password over the API takes a session of this hour too, and no older one', async () => {
  const user = await service.createUser()
  const browser = await signedIn(user)
  const make = async (name: string) => {
    const path = `/api/v1/users/${user.name}/tokens`
    return (await browser.post(path, { name }, { 'sec-fetch-site': 'same-origin' })).status
  }
  const state = async () => (await browser.get('/api/v1/user/two_factor')).status
  expect([await make('one'), await state()]).toEqual([201, 200])
  clock.time += 3_601_000
  expect([await make('two'), await state()]).toEqual([401, 200])
  const enrol = await browser.post('/api/v1/user/two_factor', {}, { 'sec-fetch-site': 'same-origin' })
  expect(enrol.status).toBe(401)
})

test('signing in again gives another session, and the one from before ends', async () => {
  const browser = await signedIn()
  const planted = browser.cookie('hearth_session')
  const mallory = visitor()
  mallory.cookies.set('hearth_session', planted ?? '')
  expect(await whoAmI(mallory)).toBe('alice')
  await browser.signIn(alice)
  expect(browser.cookie('hearth_session')).not.toBe(planted)
  expect([await whoAmI(browser), await whoAmI(mallory)]).toEqual(['alice', 401])
  const invented = visitor()
  invented.cookies.set('hearth_session', 'a'.repeat(64))
  await invented.signIn(alice)
  expect(invented.cookie('hearth_session')).not.toBe('a'.repeat(64))
})

test('signing out shows a button first, and ends the session', async () => {
  const browser = await signedIn()
  const secret = browser.cookie('hearth_session') ?? ''
  expect((await browser.get('/user/logout')).text).toContain('Sign out of this browser')
  expect(await whoAmI(browser)).toBe('alice')
  const out = await browser.post('/user/logout')
  expect([out.status, out.location, browser.cookies.size]).toEqual([303, '/', 0])
  browser.cookies.set('hearth_session', secret)
  expect(await whoAmI(browser)).toBe(401)
  expect((await visitor().get('/user/logout')).status).toBe(303)
})

test('pages come with the headers that keep them apart from other sites, and a stylesheet that stays', async () => {
  const { headers, text } = await visitor().get('/user/login')
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; script-src 'self'; form-action 'self'",
  )
  expect(headers.get('referrer-policy')).toBe('same-origin')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(text.length).toBeLessThan(30_000)
  const [, path = ''] = /rel="stylesheet" href="([^"]+)"/.exec(text) ?? []
  const style = await visitor().get(path)
  expect([style.status, style.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
  const leading = await visitor().get('/user/login?redirect_to=%2Flogin%2Foauth%2Fauthorize')
  expect(leading.headers.get('content-security-policy')).not.toContain('form-action')
})
