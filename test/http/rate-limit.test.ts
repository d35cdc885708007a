import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Credential, createClient } from '../harness/client.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

const LIMIT = 20

let service: TestService
let user: TestUser
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  service = await startTestService({
    clock,
    settings: { RATE_LIMIT: `${LIMIT}/60s`, TRUSTED_PROXIES: '127.0.0.1,::1' },
  })
  user = await service.createUser()
})
beforeEach(async () => {
  await service.context.sql`delete from request_windows`
  await service.context.sql`delete from login_failures`
})
afterAll(() => service.stop())

interface Asked {
  path?: string
  credential?: Credential
  authorization?: string
  address?: string
}

/** Through a trusted proxy, from an address. */
async function ask({ path = '/version', credential, authorization, address = '192.0.2.1' }: Asked = {}) {
  const headers = { 'x-forwarded-for': address, ...(authorization === undefined ? {} : { authorization }) }
  return (await createClient({ url: service.url, credential }).request(path, { headers })).status
}
const times = async (count: number, one: (turn: number) => Promise<number>): Promise<number[]> => {
  const statuses: number[] = []
  for (let turn = 0; turn < count; turn += 1) statuses.push(await one(turn))
  return statuses
}
const passed = (statuses: readonly number[]) => statuses.filter((status) => status !== 429).length
const windows = async () => {
  const rows = await service.context.sql<{ caller: string; requests: number }[]>`
    select caller, requests from request_windows order by caller`
  return rows.map(({ caller, requests }) => [
    caller.replace(/\d+$/, (digits) => (caller.startsWith('address') ? digits : 'N')),
    requests,
  ])
}

test('visitors of one address, or of one /64, count together, and each window ends', async () => {
  expect(passed(await times(25, () => ask()))).toBe(LIMIT)
  expect(await ask({ address: '192.0.2.2' })).toBe(200)
  expect(passed(await times(25, (turn) => ask({ address: `2001:db8:1:2::${turn}` })))).toBe(LIMIT)
  const refused = await createClient({ url: service.url }).request('/version', {
    headers: { 'x-forwarded-for': '192.0.2.1' },
  })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  clock.time += 60_001
  expect(await ask()).toBe(200)
})

test('whatever stands in a header that proves nothing, the address counts, in one row', async () => {
  const words = (turn: number) => ask({ authorization: `x ${crypto.randomUUID()}${turn}` })
  expect(passed(await times(30, words))).toBe(LIMIT)
  expect(await windows()).toEqual([['address:192.0.2.1', 30]])
})

test.each<[string, (turn: number) => Asked]>([
  ['tokens', (turn) => ({ authorization: `token ${String(turn).padStart(40, '0')}` })],
  ['bearer tokens', (turn) => ({ authorization: `Bearer ${String(turn).padStart(40, 'a')}` })],
  ['tokens in the query', (turn) => ({ path: `/version?token=${String(turn).padStart(40, 'b')}` })],
  ['passwords', (turn) => ({ credential: { basic: `nobody${turn}:wrong` } })],
])('wrong %s cost more than visits, in one row', async (_, wrong) => {
  const statuses = await times(6, (turn) => ask(wrong(turn)))
  expect(statuses).toEqual([401, 401, 429, 429, 429, 429])
  expect(await windows()).toEqual([['address:192.0.2.1', 60]])
  expect(await ask()).toBe(429)
})

test('a token counts for itself, wherever it comes from, and nobody else counts against it', async () => {
  await times(25, () => ask())
  const tokens = (turn: number) => ask({ credential: { token: user.token }, address: `192.0.2.${turn}` })
  expect(await times(LIMIT, tokens)).toEqual(new Array(LIMIT).fill(200))
  expect(await ask({ credential: { token: user.token }, address: '192.0.2.99' })).toBe(429)
  expect(await ask({ credential: { token: service.admin.token } })).toBe(200)
  expect(await windows()).toEqual([
    ['address:192.0.2.1', 25],
    // The administrator's is the older one.
    ['token:N', 1],
    ['token:N', LIMIT + 1],
  ])
})

test('a password counts for its account, from all addresses and under all its names together', async () => {
  const names = [user.name, user.name.toUpperCase(), `${user.name}@localhost.localdomain`]
  const statuses = await times(LIMIT + 2, (turn) =>
    ask({ credential: { basic: `${names[turn % 3]}:${user.password}` }, address: `192.0.2.${turn}` }),
  )
  expect(passed(statuses)).toBe(LIMIT)
  expect(await windows()).toEqual([['account:N', LIMIT + 2]])
})

test('what no gate looks at counts for the address, with whatever credential', async () => {
  const paths = ['/swagger.v1.json', '/no/such/path', '/api/v1/no-such-path', '/api/swagger', '/x%00y']
  for (const [index, authorization] of [undefined, `token ${user.token}`, 'token ffff'].entries()) {
    const address = `192.0.2.${100 + index}`
    const one = async (turn: number) =>
      (
        await fetch(`${service.url}${paths[turn % paths.length]}`, {
          headers: { 'x-forwarded-for': address, ...(authorization && { authorization }) },
        })
      ).status
    expect(passed(await times(25, one))).toBe(LIMIT)
  }
})

test('Git over HTTP counts as the API does', async () => {
  const repository = await service.createRepository(service.admin)
  await service.context.sql`delete from request_windows`
  const path = `/${repository.owner}/${repository.name}.git/info/refs?service=git-upload-pack`
  const one = async () =>
    (await fetch(`${service.url}${path}`, { headers: { authorization: `token ${user.token}` } })).status
  expect(passed(await times(25, one))).toBe(LIMIT)
  expect(await windows()).toEqual([['token:N', 25]])
})

test('probes are not counted, and never refused', async () => {
  await times(25, () => ask())
  expect(await times(30, () => ask({ path: '/api/healthz' }))).toEqual(new Array(30).fill(200))
  expect(await windows()).toEqual([['address:192.0.2.1', 25]])
})
