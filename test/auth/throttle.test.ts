import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let victim: TestUser
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  service = await startTestService({ clock, settings: { TRUSTED_PROXIES: '127.0.0.1,::1,::ffff:127.0.0.1' } })
  victim = await service.createUser('victim')
})
beforeEach(async () => {
  // Nobody's password is remembered any more.
  clock.time += 61_000
  await service.context.sql`delete from login_failures`
})
afterAll(() => service.stop())

/** A sign-in that a trusted proxy passes on from an address. */
const signIn = (name: string, password: string, address = '192.0.2.1') =>
  service.client({ basic: `${name}:${password}` }).request('/user', { headers: { 'x-forwarded-for': address } })

test('wrong passwords for one account from ever new addresses are slowed down, its token is not', async () => {
  const tries = []
  for (let turn = 0; turn < 30; turn += 1)
    tries.push((await signIn('victim', `guess ${turn}`, `198.51.100.${turn}`)).status)
  expect(tries.filter((status) => status === 401).length).toBeLessThanOrEqual(11)
  expect(tries.at(-1)).toBe(429)
  const right = await signIn('victim', victim.password, '203.0.113.9')
  expect(right.status).toBe(429)
  expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await victim.client.get('/user')).status).toBe(200)
})

test('the delay ends, and a right password begins anew', async () => {
  for (let turn = 0; turn < 12; turn += 1) await signIn('victim', `guess ${turn}`)
  expect((await signIn('victim', victim.password)).status).toBe(429)
  clock.time += 301_000
  expect((await signIn('victim', victim.password)).status).toBe(200)
  expect((await signIn('victim', 'wrong')).status).toBe(401)
})

test('a client that was right a moment ago goes on while others guess', async () => {
  expect((await signIn('victim', victim.password)).status).toBe(200)
  for (let turn = 0; turn < 15; turn += 1) await signIn('victim', `guess ${turn}`, '198.51.100.7')
  expect((await signIn('victim', victim.password)).status).toBe(200)
})

test('spraying many names from one address is slowed down for that address only', async () => {
  let last = 0
  for (let turn = 0; turn < 60; turn += 1) last = (await signIn(`nobody${turn}`, 'wrong', '2001:db8:1:2::1')).status
  expect(last).toBe(429)
  expect((await signIn('nobody-else', 'wrong', '2001:db8:1:2:ffff::9')).status).toBe(429)
  expect((await signIn('nobody-else', 'wrong', '2001:db8:1:3::1')).status).toBe(401)
}, 20_000)

test('an unknown name is counted like an account', async () => {
  const statuses = []
  for (let turn = 0; turn < 12; turn += 1)
    statuses.push((await signIn('no-such-name', 'wrong', `198.51.100.${turn}`)).status)
  expect(statuses.filter((status) => status === 401).length).toBe(11)
  expect(statuses.at(-1)).toBe(429)
})

test('parallel guesses are all counted', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, turn) => signIn('victim', `guess ${turn}`)))
  const [row] = await service.context.sql`select failures from login_failures where subject like 'user:%'`
  expect(Number(row?.failures)).toBeGreaterThan(10)
  expect((await signIn('victim', 'guess')).status).toBe(429)
})
