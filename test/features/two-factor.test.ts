import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'

let service: TestService
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  service = await startTestService({ clock })
})
afterAll(() => service.stop())

const PERIOD_MS = 30_000

interface Enrolled {
  user: TestUser
  codes: string[]
  /** The code of a step that was not used yet. */
  nextCode(): string
  /** A request with the password and, if given, a code. */
  signIn(code?: string, header?: string): Promise<number>
}

async function enrol(): Promise<Enrolled> {
  const user = await service.createUser()
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const begun = await basic.post('/user/two_factor')
  expect(begun.status).toBe(201)
  expect(begun.string('url')).toStartWith('otpauth://totp/')
  expect(begun.string('qr_svg')).toStartWith('<svg')
  const totp = new TOTP({ secret: begun.string('secret') })
  const nextCode = () => {
    clock.time += PERIOD_MS
    return totp.generate({ timestamp: clock.time })
  }
  const confirmed = await basic.post('/user/two_factor/confirm', { code: nextCode() })
  expect(confirmed.status).toBe(200)
  const codes = confirmed.text.match(/[0-9a-f]{5}(-[0-9a-f]{5}){3}/g) ?? []
  const signIn = async (code?: string, header = 'X-Service-OTP') =>
    (await basic.request('/user', code === undefined ? {} : { headers: { [header]: code } })).status
  return { user, codes, nextCode, signIn }
}

test('with it on, a password needs a code and a token does not', async () => {
  const { user, signIn, nextCode } = await enrol()
  expect(await signIn()).toBe(401)
  expect(await signIn('000000')).toBe(401)
  expect(await signIn(nextCode())).toBe(200)
  expect(await signIn(nextCode(), 'X-Gitea-OTP')).toBe(200)
  expect((await user.client.get('/user')).status).toBe(200)
  expect((await user.client.get('/user/two_factor')).body).toMatchObject({ enabled: true, recovery_codes_left: 10 })
})

test('a code is good for one time, also for requests at the same time, and none older than the last', async () => {
  const { signIn, nextCode } = await enrol()
  const code = nextCode()
  const together = await Promise.all(Array.from({ length: 5 }, () => signIn(code)))
  expect(together.filter((status) => status === 200)).toHaveLength(1)
  expect(await signIn(code)).toBe(401)
  const older = nextCode()
  const newer = nextCode()
  expect(await signIn(newer)).toBe(200)
  expect(await signIn(older)).toBe(401)
})

test('a code of a minute ago is too old, the one just before is taken', async () => {
  const { signIn, nextCode } = await enrol()
  const old = nextCode()
  clock.time += 2 * PERIOD_MS
  expect(await signIn(old)).toBe(401)
  const justBefore = nextCode()
  clock.time += PERIOD_MS
  expect(await signIn(justBefore)).toBe(200)
})

test('ten recovery codes work once each, in any spelling', async () => {
  const { user, codes, signIn } = await enrol()
  expect(codes).toHaveLength(10)
  const [first = '', second = ''] = codes
  expect(await signIn(first)).toBe(200)
  expect(await signIn(first)).toBe(401)
  expect(await signIn(second.toUpperCase().replaceAll('-', ''))).toBe(200)
  expect((await user.client.get('/user/two_factor')).number('recovery_codes_left')).toBe(8)
})

test('guessing codes is slowed down', async () => {
  const { signIn, codes } = await enrol()
  const statuses: number[] = []
  for (let turn = 0; turn < 15; turn += 1) statuses.push(await signIn(String(100_000 + turn)))
  expect(statuses.filter((status) => status === 401)).toHaveLength(10)
  expect(statuses.at(-1)).toBe(429)
  expect(await signIn(codes[0])).toBe(429)
  await service.context.sql`delete from login_failures`
})

test('minting a token needs password and code', async () => {
  const { user, nextCode } = await enrol()
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const mint = (headers: Record<string, string>) =>
    basic.request(`/users/${user.name}/tokens`, { method: 'POST', json: { name: 'minted' }, headers })
  expect((await mint({})).status).toBe(401)
  expect((await mint({ 'X-Service-OTP': nextCode() })).status).toBe(201)
})

test('it is enrolled and switched off with a password only', async () => {
  const { user, nextCode } = await enrol()
  expect((await user.client.post('/user/two_factor')).status).toBe(401)
  expect((await user.client.delete('/user/two_factor')).status).toBe(401)
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const withCode = (method: string) =>
    basic.request('/user/two_factor', { method, headers: { 'X-Service-OTP': nextCode() } })
  expect((await withCode('POST')).status).toBe(409)
  expect((await withCode('DELETE')).status).toBe(204)
  expect((await basic.get('/user')).status).toBe(200)
  expect((await basic.delete('/user/two_factor')).status).toBe(404)
})

test('an enrolment that was not confirmed changes nothing', async () => {
  const user = await service.createUser()
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  expect((await basic.post('/user/two_factor/confirm', { code: '123456' })).status).toBe(404)
  await basic.post('/user/two_factor')
  expect((await basic.post('/user/two_factor/confirm', { code: 'wrong' })).status).toBe(422)
  expect((await basic.get('/user')).status).toBe(200)
})

const untilWaiting = (requests: number) =>
  until(async () => {
    const [row] = await service.context.sql<{ waiting: number }[]>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    return (row?.waiting ?? 0) >= requests
  }, `${requests} requests wait for a row`)

test('a code confirms no enrolment that was begun while it was judged', async () => {
  const user = await service.createUser()
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const confirm = (secret: string) =>
    basic.post('/user/two_factor/confirm', { code: new TOTP({ secret }).generate({ timestamp: clock.time }) })
  const first = (await basic.post('/user/two_factor')).string('secret')
  const second = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
  const { sql, secrets } = service.context
  const { sent } = await sql.begin(async (tx) => {
    const [{ id } = { id: 0 }] = await tx<{ id: number }[]>`
      select id from two_factors join users on id = user_id where name = ${user.name} for update of two_factors`
    const sent = confirm(first)
    await untilWaiting(1)
    await tx`update two_factors set secret = ${secrets.seal('two-factor', second)} where user_id = ${id}`
    return { sent }
  })
  expect((await sent).status).toBe(422)
  expect((await user.client.get('/user/two_factor')).body).toMatchObject({ enabled: false })
  expect((await confirm(second)).status).toBe(200)
})

test('new recovery codes and switching it off at the same time leave no code behind', async () => {
  const { user, nextCode } = await enrol()
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const { sent } = await service.context.sql.begin(async (tx) => {
    await tx`
      select 1 from recovery_codes join users on users.id = user_id where name = ${user.name} for update of recovery_codes`
    const headers = { 'X-Service-OTP': nextCode() }
    const renewal = basic.request('/user/two_factor/recovery_codes', { method: 'POST', headers })
    await untilWaiting(1)
    const removal = service.admin.client.delete(`/admin/users/${user.name}/two_factor`)
    await untilWaiting(2)
    return { sent: [renewal, removal] }
  })
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 204])
  expect((await user.client.get('/user/two_factor')).body).toMatchObject({ enabled: false, recovery_codes_left: 0 })
})

test('an administrator switches it off for somebody, nobody else does', async () => {
  const { user, signIn } = await enrol()
  const path = `/admin/users/${user.name}/two_factor`
  expect((await user.client.delete(path)).status).toBe(403)
  expect((await service.anonymous.delete(path)).status).toBe(401)
  expect((await service.admin.client.delete(path)).status).toBe(204)
  expect((await service.admin.client.delete(path)).status).toBe(404)
  expect(await signIn()).toBe(200)
})

test('a secret that was sealed with another key is told as such, and whoever enrolled may do so anew', async () => {
  const { user, nextCode } = await enrol()
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  await service.context.sql`
    update two_factors set secret = decode(repeat('01', 60), 'hex') from users where users.id = user_id and users.name = ${user.name}`
  const answer = await basic.request('/user', { headers: { 'X-Service-OTP': nextCode() } })
  expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('sealed with another secret key')])
  expect((await service.admin.client.delete(`/admin/users/${user.name}/two_factor`)).status).toBe(204)
  expect((await basic.get('/user')).status).toBe(200)
})

test('the database alone gives neither secret nor recovery code', async () => {
  const { user, codes } = await enrol()
  const rows = await service.context.sql`
    select secret, (select string_agg(code_hash, ',') from recovery_codes where user_id = two_factors.user_id) as hashes
    from two_factors join users on users.id = user_id where users.name = ${user.name}`
  const dump = Buffer.from(rows[0]?.secret).toString('latin1') + String(rows[0]?.hashes)
  for (const code of codes) expect(dump).not.toContain(code.replaceAll('-', ''))
  expect(dump).not.toMatch(/[A-Z2-7]{32}/)
})
