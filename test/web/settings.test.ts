import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import { createVisitor, formTokenIn, type Visitor } from '../harness/browser.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { makeGpgKey, makeSshKey } from '../signatures/stage.ts'

let service: TestService
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  service = await startTestService({ clock, checksContract: false })
})
afterAll(() => service.stop())

async function person(): Promise<{ user: TestUser; browser: Visitor }> {
  const user = await service.createUser()
  const browser = createVisitor(service.url)
  await browser.signIn(user)
  return { user, browser }
}

/** Every page of the settings, and every form on them with what it takes. */
const pages = [
  '/user/settings',
  '/user/settings/account',
  '/user/settings/change_password',
  '/user/settings/security',
  '/user/settings/security/two_factor/enroll',
  '/user/settings/sessions',
  '/user/settings/applications',
  '/user/settings/applications/oauth2',
  '/user/settings/applications/grants',
  '/user/settings/keys',
  '/user/settings/notifications',
]
const forms = [
  '/user/settings',
  '/user/settings/account/name',
  '/user/settings/account/emails',
  '/user/settings/account/emails/primary',
  '/user/settings/account/emails/delete',
  '/user/settings/change_password',
  '/user/settings/security/two_factor/enroll',
  '/user/settings/security/two_factor/recovery_codes',
  '/user/settings/security/two_factor/disable',
  '/user/settings/security/passkeys',
  '/user/settings/security/passkeys/1/delete',
  '/user/settings/sessions/1/delete',
  '/user/settings/sessions/delete_others',
  '/user/settings/sessions/delete_all',
  '/user/settings/applications',
  '/user/settings/applications/1/delete',
  '/user/settings/applications/oauth2',
  '/user/settings/applications/oauth2/1',
  '/user/settings/applications/oauth2/1/regenerate_secret',
  '/user/settings/applications/oauth2/1/delete',
  '/user/settings/applications/oauth2/1/revoke/1',
  '/user/settings/keys/ssh',
  '/user/settings/keys/ssh/1/delete',
  '/user/settings/keys/gpg',
  '/user/settings/keys/gpg/1/delete',
  '/user/settings/notifications/read',
  '/user/settings/notifications/watches/1/watch',
  '/user/settings/notifications/watches/1/ignore',
  '/user/settings/notifications/watches/1/delete',
]

test.each(pages)('%s is for who is signed in, and small', async (path) => {
  const visitor = createVisitor(service.url)
  const sent = await visitor.get(`${path}?a=b`)
  expect([sent.status, sent.location]).toEqual([303, `/user/login?redirect_to=${encodeURIComponent(`${path}?a=b`)}`])
  const { user, browser } = await person()
  // No token opens a page: it has scopes, and pages have none.
  expect((await visitor.get(path, { authorization: `token ${user.token}` })).status).toBe(303)
  const basic = Buffer.from(`${user.name}:${user.password}`).toString('base64')
  expect((await visitor.get(path, { authorization: `Basic ${basic}` })).status).toBe(303)
  expect((await visitor.get(path, { authorization: 'token nonsense' })).status).toBe(401)
  const page = await browser.get(path)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.text.length).toBeLessThan(30_000)
  // The one script of the passkeys, as a file.
  expect(page.text.match(/<script/g) ?? []).toHaveLength(path === '/user/settings/security' ? 1 : 0)
})

test.each(forms)('the form %s is taken from a page of the service only', async (path) => {
  const { browser } = await person()
  const foreign = [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'null' }, {}]
  for (const headers of [...foreign, { origin: 'https://evil.example' }])
    expect((await browser.post(path, {}, headers)).status).toBe(403)
  const visitor = createVisitor(service.url)
  expect((await visitor.post(path)).location).toBe('/user/login')
  expect((await browser.get('/user/settings')).status).toBe(200)
})

test.each(['account', 'security', 'applications', 'keys'])('%s asks for a sign-in of this hour', async (name) => {
  const { user, browser } = await person()
  const path = `/user/settings/${name}`
  clock.time += 3_601_000
  const sent = await browser.get(path)
  expect([sent.status, sent.location]).toEqual([
    303,
    `/user/login?prompt=login&redirect_to=${encodeURIComponent(path)}`,
  ])
  expect((await browser.get(sent.location)).text).toContain('name="password"')
  const before = browser.cookie('hearth_session')
  const again = await browser.post('/user/login', { user_name: user.name, password: user.password, redirect_to: path })
  expect([again.location, browser.cookie('hearth_session') === before]).toEqual([path, false])
  expect((await browser.get(path)).status).toBe(200)
})

test('an account that must change its password is sent to do so, and can do nothing else before', async () => {
  const { user, browser } = await person()
  await service.admin.client.patch(`/admin/users/${user.name}`, { login_name: user.name, must_change_password: true })
  for (const path of pages.filter((page) => page !== '/user/settings/change_password'))
    expect((await browser.get(path)).location).toBe('/user/settings/change_password')
  const page = await browser.get('/user/settings/change_password')
  expect(page.text).not.toContain('name="old_password"')
  const password = 'another horse battery'
  const answer = await browser.post('/user/settings/change_password', { password, retype: password })
  expect(answer.location).toBe('/user/settings/change_password?done=password')
  expect((await browser.get('/user/settings')).status).toBe(200)
})

describe('the profile', () => {
  test('is changed as over the API, and shown again with what was wrong', async () => {
    const { user, browser } = await person()
    const fields = { full_name: 'Ada <b>', description: 'Math', website: 'https://ada.example', location: 'London' }
    const saved = await browser.post('/user/settings', { ...fields, visibility: 'limited', hide_email: 'true' })
    expect([saved.status, saved.location]).toEqual([303, '/user/settings?done=saved'])
    expect((await browser.get(saved.location)).text).toContain('Ada &lt;b&gt;')
    const seen = (await user.client.get('/user')).body
    expect(seen).toMatchObject({ ...fields, visibility: 'limited' })
    expect((await user.client.get('/user/settings')).body).toMatchObject({ hide_email: true, hide_activity: false })
    const wrong = await browser.post('/user/settings', { ...fields, website: 'javascript:alert(1)' })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('aria-invalid="true"')
    expect(wrong.text).toContain('Website is no address')
    expect((await browser.post('/user/settings', { visibility: 'secret' })).status).toBe(422)
    expect((await browser.post('/user/settings', { full_name: 'x'.repeat(101) })).status).toBe(422)
    expect((await user.client.get('/user')).body).toMatchObject({ ...fields, visibility: 'limited' })
  })
})

describe('the account', () => {
  test('has addresses that are added, made primary and removed', async () => {
    const { user, browser } = await person()
    const second = `second-${user.name}@example.org`
    expect((await browser.post('/user/settings/account/emails', { email: 'nonsense' })).status).toBe(422)
    expect((await browser.post('/user/settings/account/emails', { email: second })).status).toBe(303)
    expect((await browser.post('/user/settings/account/emails', { email: second })).status).toBe(422)
    expect((await browser.post('/user/settings/account/emails/primary', { email: second })).status).toBe(303)
    expect((await user.client.get('/user')).string('email')).toBe(second)
    expect((await browser.post('/user/settings/account/emails/delete', { email: second })).status).toBe(422)
    const first = `${user.name}@localhost.localdomain`
    expect((await browser.post('/user/settings/account/emails/delete', { email: first })).status).toBe(303)
    expect((await browser.post('/user/settings/account/emails/delete', { email: first })).status).toBe(404)
    expect((await user.client.get('/user/emails')).body).toHaveLength(1)
  })

  test('gets another name', async () => {
    const { user, browser } = await person()
    const taken = await browser.post('/user/settings/account/name', { new_name: 'root-admin' })
    expect([taken.status, taken.text.includes('already exists')]).toEqual([422, true])
    expect((await browser.post('/user/settings/account/name', { new_name: 'a/b' })).status).toBe(422)
    const renamed = await browser.post('/user/settings/account/name', { new_name: `${user.name}-new` })
    expect(renamed.location).toBe('/user/settings/account?done=renamed')
    expect((await browser.get('/user/settings')).text).toContain(`${user.name}-new`)
  })
})

test('another password needs the present one, keeps this session under another secret, and ends the others', async () => {
  const { user, browser } = await person()
  const other = createVisitor(service.url)
  await other.signIn(user)
  const password = 'another horse battery'
  const change = (fields: Record<string, string>) => browser.post('/user/settings/change_password', fields)
  expect((await change({ password, retype: password })).status).toBe(422)
  expect((await change({ old_password: 'wrong', password, retype: password })).text).toContain(
    'Present password is wrong',
  )
  expect((await change({ old_password: user.password, password, retype: 'x' })).status).toBe(422)
  expect((await change({ old_password: user.password, password: 'short', retype: 'short' })).status).toBe(400)
  expect((await change({ old_password: user.password, password: user.password })).status).toBe(422)
  const before = browser.cookie('hearth_session')
  expect((await change({ old_password: user.password, password, retype: password })).status).toBe(303)
  expect(browser.cookie('hearth_session')).not.toBe(before)
  expect((await browser.get('/user/settings')).status).toBe(200)
  expect((await other.get('/user/settings')).status).toBe(303)
  const old = createVisitor(service.url)
  old.cookies.set('hearth_session', before ?? '')
  expect((await old.get('/user/settings')).status).toBe(303)
  const guesses: number[] = []
  for (let attempt = 0; attempt < 12; attempt += 1)
    guesses.push((await change({ old_password: `guess ${attempt}`, password, retype: password })).status)
  expect(guesses.at(-1)).toBe(429)
})

describe('two-factor authentication', () => {
  test('is enrolled with the key that the page shows, and switched off again', async () => {
    const { user, browser } = await person()
    const other = createVisitor(service.url)
    await other.signIn(user)
    const enroll = '/user/settings/security/two_factor/enroll'
    const page = await browser.get(enroll)
    const [, seed = ''] = /<code>([A-Z2-7]{32})<\/code>/.exec(page.text) ?? []
    expect(page.text).toContain('<svg')
    expect((await browser.get(enroll)).text).toContain(seed)
    expect((await other.get(enroll)).text).not.toContain(seed)
    const wrong = await browser.post(enroll, { passcode: 'wrong' })
    expect([wrong.status, wrong.text.includes(seed), wrong.text.includes('aria-invalid')]).toEqual([422, true, true])
    const totp = new TOTP({ secret: seed })
    const before = browser.cookie('hearth_session')
    const done = await browser.post(enroll, { passcode: totp.generate({ timestamp: clock.time }) })
    const codes = done.text.match(/[0-9a-f]{5}(-[0-9a-f]{5}){3}/g) ?? []
    expect([done.status, codes.length, browser.cookie('hearth_session') === before]).toEqual([200, 10, false])
    // The page that has just been answered has the token of the new session.
    expect((await browser.post('/user/logout', { _csrf: formTokenIn(done) }, {})).status).toBe(303)
    expect((await other.get('/user/settings')).status).toBe(303)
    await browser.signIn(user, codes[0])
    await other.signIn(user, codes[1])
    expect((await other.get('/user/settings')).status).toBe(200)
    const renewed = await browser.post('/user/settings/security/two_factor/recovery_codes')
    expect(renewed.text.match(/[0-9a-f]{5}(-[0-9a-f]{5}){3}/g)).toHaveLength(10)
    expect(renewed.text).not.toContain(codes[2] ?? '')
    expect((await browser.get(enroll)).location).toBe('/user/settings/security')
    const off = await browser.post('/user/settings/security/two_factor/disable')
    expect(off.location).toBe('/user/settings/security?done=two_factor_off')
    expect((await other.get('/user/settings')).status).toBe(303)
    expect((await browser.post('/user/settings/security/two_factor/disable')).status).toBe(404)
    await createVisitor(service.url).signIn(user)
  })
})

describe('passkeys', () => {
  test('are taken from a device only, and deleted by their owner only', async () => {
    const { user, browser } = await person()
    const { browser: stranger } = await person()
    const add = (fields: Record<string, string>) => browser.post('/user/settings/security/passkeys', fields)
    expect((await add({ name: '', credential: '{}' })).text).toContain('id="name-problem"')
    for (const credential of ['', 'nonsense', '{}', '[]'])
      expect((await add({ name: 'x', credential })).status).toBe(400)
    const response = { clientDataJSON: 'e30', attestationObject: 'AAAA' }
    const made = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', clientExtensionResults: {}, response }
    expect((await add({ name: 'x', credential: JSON.stringify(made) })).status).toBe(400)
    const [row] = await service.context.sql<{ id: number }[]>`
      insert into passkeys (user_id, name, credential_id, public_key, sign_count)
      select id, 'Laptop', 'AAAA', '', 0 from users where name = ${user.name} returning id::int`
    const path = `/user/settings/security/passkeys/${row?.id}/delete`
    expect((await stranger.post(path)).status).toBe(404)
    expect((await browser.post(path)).status).toBe(303)
    expect((await browser.post(path)).status).toBe(404)
  })

  test('are forgotten with their challenges by the clock', async () => {
    await service.context.sql`insert into used_challenges values ('old', ${new Date(clock.time - 1000)})`
    await service.context.sql`insert into used_challenges values ('new', ${new Date(clock.time + 60_000)})`
    await service.admin.client.post('/admin/cron/delete_used_challenges')
    await service.drain()
    const left = await service.context.sql`select challenge_hash from used_challenges`
    expect(left.map((row) => String(row.challenge_hash))).toEqual(['new'])
  })
})

describe('sessions', () => {
  test('are listed and ended, one or all others', async () => {
    const { user, browser } = await person()
    const others = [createVisitor(service.url), createVisitor(service.url), createVisitor(service.url)]
    for (const other of others) await other.signIn(user)
    const stranger = (await person()).browser
    const page = await browser.get('/user/settings/sessions')
    const ids = [...page.text.matchAll(/sessions\/(\d+)\/delete/g)].map(([, id]) => id)
    expect([ids.length, page.text.includes('This browser')]).toEqual([4, true])
    const [own] = await service.context.sql<{ id: number }[]>`select id from sessions where user_id =
      (select id from users where name = ${user.name}) order by id limit 1`
    const foreign = await stranger.post(`/user/settings/sessions/${ids[0]}/delete`)
    expect(foreign.status).toBe(404)
    const ended = ids.find((id) => Number(id) !== Number(own?.id))
    expect((await browser.post(`/user/settings/sessions/${ended}/delete`)).status).toBe(303)
    expect((await browser.post(`/user/settings/sessions/${ended}/delete`)).status).toBe(404)
    const alive = async () =>
      (await Promise.all(others.map((other) => other.get('/user/settings')))).map(({ status }) => status)
    expect((await alive()).sort()).toEqual([200, 200, 303])
    await browser.post('/user/settings/sessions/delete_others')
    expect(await alive()).toEqual([303, 303, 303])
    expect((await browser.get('/user/settings')).status).toBe(200)
    const out = await browser.post('/user/settings/sessions/delete_all')
    expect([out.location, (await browser.get('/user/settings')).status]).toEqual(['/user/login', 303])
    expect((await stranger.get('/user/settings')).status).toBe(200)
  })
})

describe('access tokens', () => {
  test('are made with the scopes that were picked, shown once, and deleted', async () => {
    const { user, browser } = await person()
    const made = await browser.post('/user/settings/applications', {
      name: 'build <1>',
      'scope-repository': 'write:repository',
      'scope-user': 'read:user',
      'scope-issue': '',
      'scope-public-only': 'true',
    })
    const [, secret = ''] = /<code>([0-9a-f]{40})<\/code>/.exec(made.text) ?? []
    expect([made.status, secret.length]).toEqual([200, 40])
    const client = service.client({ token: secret })
    expect((await client.get('/user')).status).toBe(200)
    const page = await browser.get('/user/settings/applications')
    expect(page.text).not.toContain(secret)
    expect(page.text).toContain('build &lt;1&gt;')
    expect(page.text).toContain('public-only, write:repository, read:user')
    const twice = await browser.post('/user/settings/applications', { name: 'build <1>', 'scope-user': 'read:user' })
    expect([twice.status, twice.text.includes('value="read:user" selected')]).toEqual([400, true])
    expect((await browser.post('/user/settings/applications', { name: '' })).status).toBe(422)
    expect((await browser.post('/user/settings/applications', { name: 'x', expires: '2001-01-01' })).status).toBe(422)
    expect((await browser.post('/user/settings/applications', { name: 'x', 'scope-user': 'root' })).status).toBe(400)
    const [, id] = /applications\/(\d+)\/delete/.exec(page.text) ?? []
    const stranger = (await person()).browser
    expect((await stranger.post(`/user/settings/applications/${id}/delete`)).status).toBe(404)
    expect((await browser.post(`/user/settings/applications/${id}/delete`)).status).toBe(303)
    expect((await client.get('/user')).status).toBe(401)
    expect((await user.client.get('/user')).status).toBe(200)
  })

  test('are listed in pages', async () => {
    const { browser } = await person()
    for (let count = 0; count < 25; count += 1) await browser.post('/user/settings/applications', { name: `t${count}` })
    const first = await browser.get('/user/settings/applications')
    expect(first.text.match(/class="row"/g)).toHaveLength(15)
    expect(first.text).toContain('Page 1 of 2')
    expect(first.text.length).toBeLessThan(30_000)
    const second = await browser.get('/user/settings/applications?page=2')
    expect(second.text.match(/class="row"/g)).toHaveLength(11)
  })
})

describe('keys', () => {
  test('for SSH are added and deleted', async () => {
    const { user, browser } = await person()
    const { line } = makeSshKey()
    const wrong = await browser.post('/user/settings/keys/ssh', { title: 'mine', key: 'nonsense' })
    expect([wrong.status, wrong.text.includes('aria-invalid')]).toEqual([422, true])
    expect((await browser.post('/user/settings/keys/ssh', { key: `${line} at home`, read_only: 'true' })).status).toBe(
      303,
    )
    expect((await user.client.get('/user/keys')).body).toMatchObject([{ title: 'at home', read_only: true }])
    const { text } = await browser.get('/user/settings/keys')
    const [, id] = /keys\/ssh\/(\d+)\/delete/.exec(text) ?? []
    const stranger = (await person()).browser
    expect((await stranger.post(`/user/settings/keys/ssh/${id}/delete`)).status).toBe(403)
    expect((await browser.post(`/user/settings/keys/ssh/${id}/delete`)).status).toBe(303)
    expect((await user.client.get('/user/keys')).body).toEqual([])
  })

  test('for GPG are added and deleted', async () => {
    const { user, browser } = await person()
    const { armored } = await makeGpgKey([`${user.name}@localhost.localdomain`])
    expect((await browser.post('/user/settings/keys/gpg', { armored_public_key: 'nonsense' })).status).toBe(422)
    const foreign = await makeGpgKey(['somebody@example.org'])
    const refused = await browser.post('/user/settings/keys/gpg', { armored_public_key: foreign.armored })
    expect([refused.status, refused.text.includes('valid signature')]).toEqual([404, true])
    expect((await browser.post('/user/settings/keys/gpg', { armored_public_key: armored })).status).toBe(303)
    const { text } = await browser.get('/user/settings/keys')
    const [, id] = /keys\/gpg\/(\d+)\/delete/.exec(text) ?? []
    expect((await browser.post(`/user/settings/keys/gpg/${id}/delete`)).status).toBe(303)
    expect((await user.client.get('/user/gpg_keys')).body).toEqual([])
  })
})

test('every list is shown in small pages, however long it is', async () => {
  const { user, browser } = await person()
  const { sql } = service.context
  const [row] = await sql<{ id: number }[]>`select id::int from users where name = ${user.name}`
  const id = row?.id ?? 0
  await sql`insert into sessions (user_id, secret_hash, method, authenticated_at, last_seen_at, address, user_agent,
      idle_expires_at, expires_at)
    select ${id}, ${user.name} || n, 'password', now(), now() - make_interval(mins => n), '2001:db8:1234:5678:9abc:def0:1234:5678',
      repeat('x', 255), now() + interval '1 day', now() + interval '1 day' from generate_series(1, 98) as n`
  await sql`insert into emails (user_id, email, is_activated)
    select ${id}, repeat('x', 60) || n || '@' || repeat('host-', 12) || ${user.name} || '.example.org', true
    from generate_series(1, 49) as n`
  await sql`insert into public_keys (user_id, title, key, key_type, fingerprint)
    select ${id}, repeat('t', 200) || n, 'ssh-ed25519 AAAA', 'user', 'SHA256:' || repeat('f', 43) || n
    from generate_series(1, 40) as n`
  await sql`insert into passkeys (user_id, name, credential_id, public_key, sign_count)
    select ${id}, repeat('p', 98) || n, ${user.name} || repeat('c', 86) || n, '', 0 from generate_series(1, 25) as n`
  for (const name of ['sessions', 'account', 'keys', 'security'])
    for (const page of [1, 2, 99]) {
      const { status, text } = await browser.get(`/user/settings/${name}?page=${page}`)
      expect([name, page, status, text.length < 30_000]).toEqual([name, page, 200, true])
    }
  expect((await browser.get('/user/settings/sessions')).text).toContain('Page 1 of 7')
  expect((await browser.get('/user/settings/account?page=4')).text).toContain('Page 4 of 4')
})

describe('notifications', () => {
  const PATH = '/user/settings/notifications'
  /** What the page lists, in its order, with what is said of it. */
  const listed = async (browser: Visitor, query = '') => {
    const { text } = await browser.get(`${PATH}${query}`)
    const rows = text.matchAll(/<strong>([^<]+\/[^<]+)<\/strong><\/p>\s*<p class="hint">(Watching|Ignored)/g)
    return [...rows].map(([, name, mode]) => `${name} ${mode}`)
  }
  const idOf = async (user: TestUser, path: string) => (await user.client.get(path)).number('id')
  const fullName = ({ owner, name }: TestRepository) => `${owner}/${name}`

  test('what is watched is listed, the newest first, and watched no more, ignored and watched again', async () => {
    const { user, browser } = await person()
    expect((await browser.get(PATH)).text).toContain('There is nothing here that you watch or ignore.')
    const owner = await service.createUser()
    const [first, second] = [await service.createRepository(owner), await service.createRepository(owner)]
    for (const { path } of [second, first]) {
      clock.time += 1000
      expect((await user.client.put(`${path}/subscription`)).status).toBe(200)
    }
    // By when they were watched, not by when they were made.
    expect(await listed(browser)).toEqual([`${fullName(first)} Watching`, `${fullName(second)} Watching`])
    const id = await idOf(user, first.path)
    const send = async (verb: string) => (await browser.post(`${PATH}/watches/${id}/${verb}`)).location
    const watchers = async () => (await user.client.get(first.path)).number('watchers_count')

    expect(await send('ignore')).toBe(`${PATH}?done=ignored`)
    expect(await listed(browser)).toEqual([`${fullName(first)} Ignored`, `${fullName(second)} Watching`])
    expect([(await user.client.get(`${first.path}/subscription`)).status, await watchers()]).toEqual([404, 1])
    expect(await send('watch')).toBe(`${PATH}?done=watching`)
    expect(await listed(browser)).toEqual([`${fullName(first)} Watching`, `${fullName(second)} Watching`])
    expect(await watchers()).toBe(2)
    expect(await send('delete')).toBe(`${PATH}?done=unwatched`)
    expect(await listed(browser)).toEqual([`${fullName(second)} Watching`])
    expect((await browser.get(`${PATH}?done=unwatched`)).text).toContain(
      'You neither watch nor ignore the repository now.',
    )
    // It was so before.
    expect(await send('delete')).toBe(`${PATH}?done=unwatched`)
    expect(await watchers()).toBe(1)
  })

  test('of what is ignored nothing is told, but for issues that one subscribed to', async () => {
    const { user, browser } = await person()
    const owner = await service.createUser()
    const repo = await service.createRepository(owner)
    const issue = `${repo.path}/issues/1`
    await owner.client.post(`${repo.path}/issues`, { title: 'one' })
    await user.client.post(`${issue}/comments`, { body: 'mine' })
    const unread = async (body: string) => {
      await owner.client.post(`${issue}/comments`, { body })
      await service.drain()
      const found = (await user.client.get('/notifications/new')).number('new')
      await user.client.put('/notifications')
      const { body: check } = await user.client.get(`${issue}/subscriptions/check`)
      return [found, Object(check).subscribed]
    }
    expect(await unread('for who takes part')).toEqual([1, true])
    await browser.post(`${PATH}/watches/${await idOf(user, repo.path)}/ignore`)
    expect(await unread(`for @${user.name}`)).toEqual([0, false])
    await user.client.put(`${issue}/subscriptions/${user.name}`)
    expect(await unread('for who subscribed')).toEqual([1, true])
    await user.client.delete(`${issue}/subscriptions/${user.name}`)
    await browser.post(`${PATH}/watches/${await idOf(user, repo.path)}/watch`)
    expect(await unread('for nobody')).toEqual([0, false])
  })

  test('what waits is counted, and all of it marked as read', async () => {
    const { user, browser } = await person()
    const other = await person()
    const repo = await service.createRepository(user)
    await other.user.client.put(`${repo.path}/subscription`)
    const third = await service.createUser()
    expect((await browser.get(PATH)).text).toContain('You have read everything.')
    for (const count of ['1 notification waits', '2 notifications wait']) {
      await third.client.post(`${repo.path}/issues`, { title: 'news' })
      await service.drain()
      expect((await browser.get(PATH)).text).toContain(count)
    }
    expect((await browser.post(`${PATH}/read`)).location).toBe(`${PATH}?done=read`)
    expect((await browser.get(`${PATH}?done=read`)).text).toContain('You have read everything.')
    expect((await user.client.get('/notifications/new')).number('new')).toBe(0)
    // Somebody else's stay as they are.
    expect((await other.browser.get(PATH)).text).toContain('2 notifications wait')
  })

  test('a repository that somebody may not see any more is as one that never was', async () => {
    const { user, browser } = await person()
    const owner = await service.createUser()
    const repo = await service.createRepository(owner)
    await user.client.put(`${repo.path}/subscription`)
    const id = await idOf(user, repo.path)
    await owner.client.patch(repo.path, { private: true })
    const page = await browser.get(PATH)
    expect(page.text).toContain('There is nothing here that you watch or ignore.')
    expect(page.text).not.toContain(repo.name)
    const state = () => service.context.sql`
      select name, is_subscribed from watches join users on users.id = user_id where repository_id = ${id} order by name`
    const before = await state()
    const strip = (text: string) => text.replace(/Request [-0-9a-f]+/, '')
    for (const verb of ['watch', 'ignore', 'delete']) {
      const hidden = await browser.post(`${PATH}/watches/${id}/${verb}`)
      const unknown = await browser.post(`${PATH}/watches/999999999/${verb}`)
      expect([hidden.status, unknown.status]).toEqual([404, 404])
      expect(strip(hidden.text)).toBe(strip(unknown.text))
      for (const bad of ['x', '0', '-1', '9'.repeat(30)])
        expect((await browser.post(`${PATH}/watches/${bad}/${verb}`)).status).toBe(404)
    }
    expect(await state()).toEqual(before)
    // It is back with the right to see it.
    await owner.client.patch(repo.path, { private: false })
    expect(await listed(browser)).toEqual([`${fullName(repo)} Watching`])
  })

  test('a form is about its own sender only, and nobody watches what its owner keeps them from', async () => {
    const { user, browser } = await person()
    const owner = await service.createUser()
    const repo = await service.createRepository(owner)
    const id = await idOf(user, repo.path)
    for (const verb of ['ignore', 'delete']) await browser.post(`${PATH}/watches/${id}/${verb}`)
    expect((await owner.client.get(`${repo.path}/subscription`)).status).toBe(200)
    await owner.client.put(`/user/blocks/${user.name}`)
    expect((await browser.post(`${PATH}/watches/${id}/watch`)).status).toBe(403)
    expect((await user.client.get(`${repo.path}/subscription`)).status).toBe(404)
  })

  test('a long list comes in pages, each of them small', async () => {
    const { user, browser } = await person()
    await service.context.sql`
      with made as (
        insert into repositories (owner_id, name, default_branch)
        select id, repeat('n', 90) || part, 'main' from users, generate_series(11, 27) as part where name = ${user.name}
        returning id, owner_id)
      insert into watches (user_id, repository_id) select owner_id, id from made`
    const [one, two] = [await browser.get(PATH), await browser.get(`${PATH}?page=2`)]
    expect([await listed(browser), await listed(browser, '?page=2')].map(({ length }) => length)).toEqual([15, 2])
    expect(one.text).toContain('Page 1 of 2')
    expect(two.text).toContain('Page 2 of 2')
    expect(one.text.length).toBeLessThan(30_000)
    for (const odd of ['0', '-1', 'x', '9999999']) expect((await browser.get(`${PATH}?page=${odd}`)).status).toBe(200)
    expect((await browser.get(`${PATH}?page=12345678901`)).status).toBe(422)
  })
})
