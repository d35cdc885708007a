import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let victim: TestUser
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  service = await startTestService({ clock, settings: { TRUSTED_PROXIES: '127.0.0.1,::1,::ffff:127.0.0.1' } })
  victim = await service.createUser('victim')
})
beforeEach(async () => {
  // Nobody's password is cached any more.
  clock.time += 61_000
  await service.context.sql`delete from login_failures`
  await service.context.sql`delete from sign_in_addresses`
})
afterAll(() => service.stop())

/** Failures of one subject that are judged without a delay. */
const FREE = 10

/** A sign-in that a trusted proxy passes on from an address. */
const signIn = (name: string, password: string, address = '192.0.2.1', code?: string) =>
  service.client({ basic: `${name}:${password}` }).request('/user', {
    headers: { 'x-forwarded-for': address, ...(code === undefined ? {} : { 'x-gitea-otp': code }) },
  })
const statusOf = async (...attempt: Parameters<typeof signIn>) => (await signIn(...attempt)).status
const count = (statuses: readonly number[], wanted: number) => statuses.filter((status) => status === wanted).length
/** Each from another address. */
const strangersGuess = (times: number, name = 'victim') =>
  Promise.all(Array.from({ length: times }, (_, turn) => statusOf(name, `guess ${turn}`, `198.51.100.${turn}`)))

/** Until strangers have to wait for minutes. */
async function strangersInsist(name = 'victim'): Promise<void> {
  expect(count(await strangersGuess(30, name), 401)).toBe(FREE)
  for (let turn = 0; turn < 10; turn += 1) {
    clock.time += 301_000
    expect(await statusOf(name, `insisting ${turn}`, `198.51.101.${turn}`)).toBe(401)
  }
}

interface Enrolled {
  user: TestUser
  /** Of now. */
  code(): string
  /** Of a step that was not used yet. */
  nextCode(): string
}

async function enrol(): Promise<Enrolled> {
  const user = await service.createUser()
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const totp = new TOTP({ secret: (await basic.post('/user/two_factor')).string('secret') })
  const code = () => totp.generate({ timestamp: clock.time })
  const nextCode = () => {
    clock.time += 30_000
    return code()
  }
  expect((await basic.post('/user/two_factor/confirm', { code: nextCode() })).status).toBe(200)
  // Nothing is known of where the person comes from, and no password is cached.
  clock.time += 61_000
  await service.context.sql`delete from sign_in_addresses`
  return { user, code, nextCode }
}

test('wrong passwords for one account from ever new addresses are slowed down, its token is not', async () => {
  const tries = []
  for (let turn = 0; turn < 30; turn += 1) tries.push(await statusOf('victim', `guess ${turn}`, `198.51.100.${turn}`))
  expect(count(tries, 401)).toBe(FREE)
  expect(tries.at(-1)).toBe(429)
  const right = await signIn('victim', victim.password, '203.0.113.9')
  expect(right.status).toBe(429)
  expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await victim.client.get('/user')).status).toBe(200)
})

test('of passwords at the same time no more are judged than one after the other', async () => {
  for (const name of ['victim', 'no-such-name']) {
    const statuses = await strangersGuess(65, name)
    expect([name, count(statuses, 401), count(statuses, 429)]).toEqual([name, FREE, 65 - FREE])
  }
})

test('of passwords at the same time from one address, also one that the person came from, no more are judged', async () => {
  expect(await statusOf('victim', victim.password)).toBe(200)
  const guesses = Array.from({ length: 65 }, (_, turn) => statusOf('victim', `guess ${turn}`))
  expect(count(await Promise.all(guesses), 401)).toBe(FREE)
})

test('the right password in many requests at the same time is no guessing', async () => {
  const statuses = await Promise.all(Array.from({ length: 40 }, () => statusOf('victim', victim.password)))
  expect(count(statuses, 200)).toBe(40)
  expect(await service.context.sql`select subject from login_failures`).toHaveLength(0)
})

test('of 2,000 codes at the same time, with a known password, no more are judged than one after the other', async () => {
  const { user, code, nextCode } = await enrol()
  // From now on the password is cached, and no queue of hashes holds a guess back.
  expect(await statusOf(user.name, user.password)).toBe(401)
  const guesses = Array.from({ length: 2000 }, (_, turn) =>
    statusOf(user.name, user.password, `10.0.${turn >> 8}.${turn & 255}`, String(100_000 + turn)),
  )
  const statuses = await Promise.all(guesses)
  expect(count(statuses, 401)).toBeLessThanOrEqual(FREE)
  expect(count(statuses, 401) + count(statuses, 429)).toBe(2000)
  const [row] = await service.context.sql`select failures from login_failures where subject like 'code:%'`
  expect(row).toEqual({ failures: FREE })
  // It was for the codes, not for the password: a code has to wait now, wherever it comes from.
  expect(await statusOf(user.name, user.password, '192.0.2.77', code())).toBe(429)
  clock.time += 301_000
  expect(await statusOf(user.name, user.password, '192.0.2.77', nextCode())).toBe(200)
})

test('the delay ends, and a right password begins anew', async () => {
  for (let turn = 0; turn < 12; turn += 1) await signIn('victim', `guess ${turn}`)
  expect(await statusOf('victim', victim.password)).toBe(429)
  clock.time += 301_000
  expect(await statusOf('victim', victim.password)).toBe(200)
  clock.time += 61_000
  for (let turn = 0; turn < FREE - 1; turn += 1) expect(await statusOf('victim', `guess ${turn}`)).toBe(401)
  expect(await statusOf('victim', victim.password)).toBe(200)
})

test('a client that was right a moment ago goes on while others guess', async () => {
  expect(await statusOf('victim', victim.password)).toBe(200)
  await service.context.sql`delete from sign_in_addresses`
  await strangersGuess(15)
  expect(await statusOf('victim', victim.password)).toBe(200)
})

test('strangers lock nobody out who comes from where they signed in before', async () => {
  const signsIn = async (address: string) => {
    // Nobody's password is cached any more.
    clock.time += 61_000
    return [address, await statusOf('victim', victim.password, address)]
  }
  for (const address of ['203.0.113.5', '2001:db8:7:7::1']) expect(await signsIn(address)).toEqual([address, 200])
  await strangersInsist()
  for (const address of ['203.0.113.5', '2001:db8:7:7:1234::9']) expect(await signsIn(address)).toEqual([address, 200])
  for (const address of ['203.0.113.6', '2001:db8:7:8::1']) expect(await signsIn(address)).toEqual([address, 429])
  // Where the person came from, guesses have a count of their own, and the right password ends no other.
  for (let turn = 0; turn < FREE; turn += 1) expect(await statusOf('victim', `x ${turn}`, '203.0.113.5')).toBe(401)
  expect(await statusOf('victim', victim.password, '203.0.113.5')).toBe(429)
  expect(await statusOf('victim', victim.password, '2001:db8:7:7::1')).toBe(200)
  expect(await statusOf('victim', 'guess', '198.51.100.200')).toBe(429)
})

test('an address that is slowed down is, also for who came from there before', async () => {
  expect(await statusOf('victim', victim.password)).toBe(200)
  clock.time += 61_000
  for (let turn = 0; turn < 51; turn += 1) await signIn(`nobody${turn}`, 'wrong')
  expect(await statusOf('victim', victim.password)).toBe(429)
})

test('strangers lock nobody out who shows a second factor', async () => {
  const { user, nextCode } = await enrol()
  await strangersInsist(user.name)
  const there = '203.0.113.50'
  expect(await statusOf(user.name, user.password, there)).toBe(429)
  expect(await statusOf(user.name, user.password, there, '000000')).toBe(429)
  const code = nextCode()
  // A wrong password is refused in the same words, and uses no code up.
  expect(await statusOf(user.name, 'wrong', there, code)).toBe(429)
  expect(await statusOf(user.name, user.password, there, code)).toBe(200)
  expect(await statusOf(user.name, user.password, '203.0.113.51', code)).toBe(401)
  clock.time += 61_000
  // Those who guess go on waiting.
  expect(await statusOf(user.name, 'guess', '198.51.100.201')).toBe(429)
})

test('while an account waits, a code in each request gets nobody past it who has no second factor', async () => {
  await strangersGuess(30)
  for (const [name, password] of [
    ['victim', victim.password],
    ['victim', 'wrong'],
    ['no-such-name', 'wrong'],
  ] as const) {
    if (name !== 'victim') await strangersGuess(30, name)
    expect([name, await statusOf(name, password, '203.0.113.60', '123456')]).toEqual([name, 429])
    // The refusal leaves nothing behind by which the same password would pass the next time.
    expect([name, await statusOf(name, password, '203.0.113.61')]).toEqual([name, 429])
  }
})

test('while an account waits, codes are guessed no more often than else', async () => {
  const { user, code, nextCode } = await enrol()
  await strangersInsist(user.name)
  const guess = (turn: number) => statusOf(user.name, user.password, `10.1.0.${turn}`, String(100_000 + turn))
  const statuses = await Promise.all(Array.from({ length: 30 }, (_, turn) => guess(turn)))
  expect(statuses.filter((one) => one !== 429)).toEqual([])
  expect(await statusOf(user.name, user.password, '203.0.113.70', code())).toBe(429)
  expect(await statusOf(user.name, user.password, '203.0.113.70', nextCode())).toBe(200)
})

test('another password ends every delay of the account', async () => {
  const { user, nextCode } = await enrol()
  expect(await statusOf(user.name, user.password, '192.0.2.50', nextCode())).toBe(200)
  clock.time += 61_000
  await strangersGuess(15, user.name)
  for (let turn = 0; turn < 11; turn += 1) await signIn(user.name, `x ${turn}`, '192.0.2.50')
  for (let turn = 0; turn < 11; turn += 1) await signIn(user.name, user.password, '192.0.2.51', '000000')
  const change = { source_id: 0, login_name: user.name, password: 'another long one', must_change_password: false }
  expect((await service.admin.client.patch(`/admin/users/${user.name}`, change)).status).toBe(200)
  for (const address of ['192.0.2.50', '192.0.2.52'])
    expect(await statusOf(user.name, 'another long one', address, nextCode())).toBe(200)
})

test('spraying many names from one address is slowed down for that address only', async () => {
  let last = 0
  for (let turn = 0; turn < 60; turn += 1) last = await statusOf(`nobody${turn}`, 'wrong', '2001:db8:1:2::1')
  expect(last).toBe(429)
  expect(await statusOf('nobody-else', 'wrong', '2001:0db8:01:2:ffff::9')).toBe(429)
  expect(await statusOf('nobody-else', 'wrong', '2001:db8:1:3::1')).toBe(401)
})

test('an unknown name is counted like an account', async () => {
  const statuses = []
  for (let turn = 0; turn < 12; turn += 1) statuses.push(await statusOf('no-such-name', 'wrong', `198.51.100.${turn}`))
  expect(count(statuses, 401)).toBe(FREE)
  expect(statuses.at(-1)).toBe(429)
})
