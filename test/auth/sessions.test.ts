import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadConfig } from '../../src/config.ts'
import { type Service, startService } from '../../src/service.ts'
import { createVisitor, type Visitor } from '../harness/browser.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { recordStatements } from '../harness/statements.ts'

const HOUR_MS = 3_600_000
const clock = { time: Date.now(), now: () => new Date(clock.time) }
const settings = { SESSION_IDLE_SECONDS: '7200', SESSION_MAX_SECONDS: '86400' }
let service: TestService
let replica: Service
beforeAll(async () => {
  service = await startTestService({ clock, settings })
  const config = loadConfig({
    ...settings,
    PORT: '0',
    DATA_DIR: service.context.config.dataDir,
    DATABASE_URL: service.databaseUrl,
    DATABASE_POOL_SIZE: '4',
    LOG_LEVEL: 'fatal',
    PUBLIC_URL: 'https://git.example.org/code',
  })
  replica = await startService(config, { clock, worksJobs: false })
})
afterAll(async () => {
  await replica.stop()
  await service.stop()
})

async function signedIn(user: TestUser, fields: Record<string, string> = {}): Promise<Visitor> {
  const browser = createVisitor(service.url)
  await browser.post('/user/login', { user_name: user.name, password: user.password, ...fields })
  return browser
}

/** What both replicas answer to the session: the other one is reached over https, where its cookie has another name. */
async function onBoth(browser: Visitor): Promise<number[]> {
  const here = await browser.get('/api/v1/user')
  const cookie = `__Host-hearth_session=${browser.cookie('hearth_session')}`
  const there = await fetch(`${replica.url}/api/v1/user`, { headers: { cookie } })
  return [here.status, there.status]
}

test('a session is known to every replica, and only its hash is stored', async () => {
  const alice = await service.createUser()
  const browser = await signedIn(alice)
  expect(await onBoth(browser)).toEqual([200, 200])
  const secret = browser.cookie('hearth_session') ?? ''
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  const [row] = await service.context.sql`select * from sessions where user_id =
    (select id from users where name = ${alice.name})`
  expect(JSON.stringify(row)).not.toContain(secret)
  expect(row).toMatchObject({ method: 'password', address: expect.stringMatching(/127|::1/) })
})

test('a session and its account are found in one statement, and no credential that is sent on purpose is passed over', async () => {
  const [alice, bob] = [await service.createUser(), await service.createUser()]
  const browser = await signedIn(alice)
  const record = recordStatements(service.context)
  expect((await browser.get('/api/v1/user')).text).toContain(alice.name)
  expect(record.texts()).toHaveLength(1)
  record.stop()
  expect((await browser.get('/api/v1/user', { authorization: `token ${bob.token}` })).text).toContain(bob.name)
  expect((await browser.get('/api/v1/user', { authorization: 'token nonsense' })).status).toBe(401)
})

test('under https the cookie is bound to the host, and redirects lead below the path of the service', async () => {
  const alice = await service.createUser()
  const answer = await fetch(`${replica.url}/user/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: 'https://git.example.org' },
    body: new URLSearchParams({ user_name: alice.name, password: alice.password, redirect_to: '/code/a?b' }),
  })
  expect(answer.headers.get('location')).toBe('/code/a?b')
  expect(answer.headers.getSetCookie()[0]).toMatch(
    /^__Host-hearth_session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  )
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0]?.replace('__Host-', '') ?? ''
  expect((await fetch(`${replica.url}/api/v1/user`, { headers: { cookie } })).status).toBe(401)
})

test('a session that is not used ends, unless its owner asked to stay; every session ends some day', async () => {
  const alice = await service.createUser()
  const used = await signedIn(alice)
  const idle = await signedIn(alice)
  const remembered = await signedIn(alice, { remember: 'true' })
  clock.time += HOUR_MS
  expect(await onBoth(used)).toEqual([200, 200])
  clock.time += HOUR_MS
  expect(await onBoth(used)).toEqual([200, 200])
  expect(await onBoth(idle)).toEqual([401, 401])
  clock.time += 20 * HOUR_MS
  expect(await onBoth(used)).toEqual([401, 401])
  expect(await onBoth(remembered)).toEqual([200, 200])
  clock.time += 2 * HOUR_MS
  expect(await onBoth(remembered)).toEqual([401, 401])
})

test('expired sessions are deleted by the clock', async () => {
  await signedIn(await service.createUser())
  clock.time += 3 * HOUR_MS
  const kept = await signedIn(await service.createUser())
  expect((await service.admin.client.post('/admin/cron/delete_expired_sessions')).status).toBe(204)
  await service.drain()
  const left = await service.context.sql`select 1 from sessions where idle_expires_at <= ${clock.now()}`
  expect(left).toHaveLength(0)
  expect(await onBoth(kept)).toEqual([200, 200])
})

test('reading does not mean writing: a session is seen every few minutes', async () => {
  const alice = await service.createUser()
  const browser = await signedIn(alice)
  const seen = async () => {
    const rows = await service.context.sql<{ at: Date }[]>`select last_seen_at as at from sessions where user_id =
      (select id from users where name = ${alice.name})`
    return rows[0]?.at.getTime()
  }
  const begun = clock.time
  clock.time += 240_000
  await browser.get('/api/v1/user')
  expect(await seen()).toBe(begun)
  clock.time += 120_000
  await browser.get('/api/v1/user')
  expect(await seen()).toBe(begun + 360_000)
})

test('a new password, a closed account and other rights end sessions everywhere at once', async () => {
  const edit = async (user: TestUser, change: object) => {
    const answer = await service.admin.client.patch(`/admin/users/${user.name}`, { login_name: user.name, ...change })
    expect(answer.status).toBe(200)
  }
  for (const change of [
    { password: 'another horse battery' },
    { prohibit_login: true },
    { active: false },
    { admin: true },
  ]) {
    const alice = await service.createUser()
    const browser = await signedIn(alice)
    expect(await onBoth(browser)).toEqual([200, 200])
    await edit(alice, change)
    expect([change, await onBoth(browser)]).toEqual([change, [401, 401]])
    // Not only because the account is closed.
    await edit(alice, { prohibit_login: false, active: true })
    expect(await onBoth(browser)).toEqual([401, 401])
  }
  const bob = await service.createUser()
  const browser = await signedIn(bob)
  await edit(bob, { full_name: 'Bob', admin: false })
  expect(await onBoth(browser)).toEqual([200, 200])
  await service.admin.client.delete(`/admin/users/${bob.name}`)
  expect(await onBoth(browser)).toEqual([401, 401])
})

test('who changes the password keeps the session that does it, and no other', async () => {
  const alice = await service.createUser()
  const [mine, other] = [await signedIn(alice), await signedIn(alice)]
  const answer = await fetch(`${service.url}/api/v1/user/password`, {
    method: 'PUT',
    headers: {
      cookie: `hearth_session=${mine.cookie('hearth_session')}`,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ new_password: 'another horse battery' }),
  })
  expect(answer.status).toBe(204)
  expect(await onBoth(mine)).toEqual([200, 200])
  expect(await onBoth(other)).toEqual([401, 401])
})

test('one person has at most a hundred sessions: the oldest ends', async () => {
  const alice = await service.createUser()
  const first = await signedIn(alice)
  const second = await signedIn(alice)
  for (let count = 2; count < 100; count += 1) await signedIn(alice)
  expect(await onBoth(first)).toEqual([200, 200])
  await signedIn(alice)
  expect(await onBoth(first)).toEqual([401, 401])
  expect(await onBoth(second)).toEqual([200, 200])
})
