import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let person: TestUser
const clock = { time: Date.now(), now: () => new Date(clock.time) }
const DAY_MS = 86_400_000

beforeAll(async () => {
  service = await startTestService({ clock, settings: { TRUSTED_PROXIES: '127.0.0.1,::1,::ffff:127.0.0.1' } })
  person = await service.createUser('person')
})
beforeEach(() => {
  // Nobody's password is cached any more.
  clock.time += 61_000
})
afterAll(() => service.stop())

const signIn = async (address: string, password = person.password, name = person.name) => {
  const client = service.client({ basic: `${name}:${password}` })
  return (await client.request('/user', { headers: { 'x-forwarded-for': address } })).status
}

async function recorded(action: string, address: string) {
  const { body } = await service.admin.client.get('/admin/audit', { action, address })
  return Array.isArray(body) ? body : []
}
/** With the transactions that wrote and locked the row last. */
const lastSeen = async (network: string) => {
  const [row] = await service.context
    .sql`select last_seen_at, xmin::text, xmax::text from sign_in_addresses where network = ${network}`
  return row
}

test('a right password from a new address is recorded once, not with each request', async () => {
  expect(await signIn('192.0.2.1')).toBe(200)
  const [entry, ...others] = await recorded('auth.sign_in', '192.0.2.1')
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    actor: { name: 'person' },
    method: 'password',
    route: 'GET /api/v1/user',
    subject: { kind: 'user', name: 'person' },
    changes: { network: { after: '192.0.2.1' } },
  })
  const first = await lastSeen('192.0.2.1')
  clock.time += 61_000
  expect(await signIn('192.0.2.1')).toBe(200)
  expect(await recorded('auth.sign_in', '192.0.2.1')).toHaveLength(1)
  expect(await lastSeen('192.0.2.1')).toEqual(first)
  expect(await signIn('192.0.2.2')).toBe(200)
  clock.time += 61_000
  expect(await signIn('192.0.2.2')).toBe(200)
  expect(await recorded('auth.sign_in', '192.0.2.2')).toHaveLength(1)
})

test('the addresses of one household are one', async () => {
  expect(await signIn('2001:db8:1:2::1')).toBe(200)
  clock.time += 61_000
  expect(await signIn('2001:db8:1:2::ffff')).toBe(200)
  expect(await recorded('auth.sign_in', '2001:db8:1:2::1')).toHaveLength(1)
  expect(await recorded('auth.sign_in', '2001:db8:1:2::ffff')).toHaveLength(0)
})

test('neither wrong passwords nor tokens nor prohibited accounts sign in', async () => {
  expect(await signIn('192.0.2.3', 'wrong')).toBe(401)
  expect(await signIn('192.0.2.3', person.token)).toBe(200)
  const other = await service.createUser('prohibited')
  await service.admin.client.patch('/admin/users/prohibited', { login_name: 'prohibited', prohibit_login: true })
  expect(await signIn('192.0.2.3', other.password, other.name)).toBe(401)
  expect(await recorded('auth.sign_in', '192.0.2.3')).toEqual([])
})

test('an address is forgotten when it was not used for long, and not before', async () => {
  expect(await signIn('192.0.2.4')).toBe(200)
  clock.time += 60 * DAY_MS
  expect(await signIn('192.0.2.4')).toBe(200)
  clock.time += 60 * DAY_MS
  await service.admin.client.post('/admin/cron/delete_old_login_failures')
  await service.drain()
  expect(await signIn('192.0.2.4')).toBe(200)
  expect(await recorded('auth.sign_in', '192.0.2.4')).toHaveLength(1)
  clock.time += 91 * DAY_MS
  await service.admin.client.post('/admin/cron/delete_old_login_failures')
  await service.drain()
  expect(await signIn('192.0.2.4')).toBe(200)
  expect(await recorded('auth.sign_in', '192.0.2.4')).toHaveLength(2)
})

test('guessing is recorded when it begins to be slowed down, once, without what was guessed', async () => {
  for (let turn = 0; turn < 15; turn += 1) await signIn('198.51.100.1', `guess ${turn}`)
  expect(await recorded('auth.slow_down', '198.51.100.1')).toMatchObject([{ actor: null, subject: { name: 'person' } }])
  for (let turn = 0; turn < 15; turn += 1) await signIn('198.51.100.2', 'wrong', 'my-secret-in-the-wrong-field')
  const unknown = await recorded('auth.slow_down', '198.51.100.2')
  expect(unknown).toMatchObject([{ subject: { kind: 'user', id: null, name: '' } }])
  expect(JSON.stringify(unknown)).not.toContain('my-secret')
  for (let turn = 0; turn < 55; turn += 1) await signIn('198.51.100.3', 'wrong', `nobody${turn}`)
  expect(await recorded('auth.slow_down', '198.51.100.3')).toMatchObject([
    { subject: { kind: 'network', name: '198.51.100.3' } },
  ])
})
