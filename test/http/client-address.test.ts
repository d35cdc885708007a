import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openRaw } from '../harness/raw-answers.ts'
import { startTestService, type TestService } from '../harness/service.ts'

/** Behind proxies at the loopback addresses, and in two networks. */
let behind: TestService
/** Without any. */
let alone: TestService
beforeAll(async () => {
  const settings = { RATE_LIMIT: '1000/60s' }
  behind = await startTestService({
    settings: { ...settings, TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, 2001:db8:ffff::/48' },
  })
  alone = await startTestService({ settings })
})
afterAll(() => Promise.all([behind.stop(), alone.stop()]))

/** The address that a visit was counted for. */
async function addressOf({ url, context }: TestService, headers: readonly string[]): Promise<string | undefined> {
  await context.sql`delete from request_windows`
  const { socket, answers } = openRaw(Number(new URL(url).port))
  socket.write(`GET /api/v1/version HTTP/1.1\r\nhost: x\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`)
  expect((await answers(1))[0]?.status).toBe(200)
  socket.destroy()
  const [row] = await context.sql<{ caller: string }[]>`select caller from request_windows`
  return row?.caller.replace('address:', '')
}

test.each<[string, string[], string]>([
  ['nothing', [], '127.0.0.1'],
  ['one address', ['x-forwarded-for: 192.0.2.7'], '192.0.2.7'],
  ['what a client wrote before', ['x-forwarded-for: 198.51.100.1, 192.0.2.7'], '192.0.2.7'],
  ['several trusted proxies', ['x-forwarded-for: 198.51.100.1, 192.0.2.7, 10.1.2.3, 10.9.9.9'], '192.0.2.7'],
  ['a client that names a trusted proxy', ['x-forwarded-for: 10.0.0.1, 192.0.2.7'], '192.0.2.7'],
  [
    'several headers',
    ['x-forwarded-for: 198.51.100.1', 'x-forwarded-for: 192.0.2.7', 'x-forwarded-for: 10.1.2.3'],
    '192.0.2.7',
  ],
  ['a port', ['x-forwarded-for: 192.0.2.7:4711'], '192.0.2.7'],
  ['IPv6', ['x-forwarded-for: 2001:db8:1:2::7'], '2001:db8:1:2::/64'],
  ['IPv6 in brackets, with a port', ['x-forwarded-for: [2001:db8:1:2::7]:4711'], '2001:db8:1:2::/64'],
  ['IPv6 behind a trusted network', ['x-forwarded-for: 2001:db8:1:2::7, 2001:db8:ffff:1::1'], '2001:db8:1:2::/64'],
  ['IPv4 as IPv6', ['x-forwarded-for: ::ffff:192.0.2.7'], '192.0.2.7'],
  ['IPv4 as IPv6 in groups', ['x-forwarded-for: ::FFFF:C000:0207'], '192.0.2.7'],
  ['a trusted proxy as IPv6', ['x-forwarded-for: 192.0.2.7, ::ffff:10.1.2.3'], '192.0.2.7'],
  ['what is no address', ['x-forwarded-for: 198.51.100.1, unknown, 10.1.2.3'], '10.1.2.3'],
  ['an empty place', ['x-forwarded-for: 198.51.100.1, , 10.1.2.3'], '10.1.2.3'],
  ['trusted proxies alone', ['x-forwarded-for: 10.1.2.3'], '10.1.2.3'],
  ['the header that is not read', ['forwarded: for=192.0.2.7'], '127.0.0.1'],
  ['both headers', ['forwarded: for=198.51.100.1', 'x-forwarded-for: 192.0.2.7'], '192.0.2.7'],
])('behind trusted proxies: %s', async (_, headers, address) => {
  expect(await addressOf(behind, headers)).toBe(address)
})

test('without a trusted proxy nobody is believed', async () => {
  for (const headers of [['x-forwarded-for: 192.0.2.7'], ['forwarded: for=192.0.2.7'], ['x-real-ip: 192.0.2.7']])
    expect(await addressOf(alone, headers)).toBe('127.0.0.1')
})
