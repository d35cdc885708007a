import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sha256Hex } from '../../src/kernel/hashing.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { type SmtpSink, startSmtpSink } from '../harness/smtp.ts'

const HOUR_MS = 3_600_000
const clock = { time: Date.now(), now: () => new Date(clock.time) }
let sink: SmtpSink
let service: TestService
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  sink = await startSmtpSink({ disabledCommands: ['STARTTLS', 'AUTH'] })
  const settings = {
    SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    MAIL_FROM: 'hearth@forge.example',
    CONFIRM_EMAILS: 'true',
    EMAIL_CONFIRMATION_HOURS: '2',
    REQUIRE_SIGNIN_VIEW: 'true',
  }
  service = await startTestService({ clock, settings })
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
})
afterAll(async () => {
  await service.stop()
  await sink.stop()
})

let counter = 0
const freshAddress = () => `address${++counter}@example.org`

/** Adds an address, and returns the code of the link in the last mail to it. */
async function add(user: TestUser, address: string): Promise<string> {
  expect((await user.client.post('/user/emails', { emails: [address] })).status).toBe(201)
  await service.drain()
  const code = /\/user\/activate_email\?code=([0-9a-f]{64})\n/.exec(sink.to(address.toLowerCase()).at(-1)?.text ?? '')
  return code?.[1] ?? ''
}

const path = () => `${service.url}/user/activate_email`
const open = (code: string, init: RequestInit = {}) => fetch(`${path()}?code=${code}`, init)
const press = (code: string, headers: Record<string, string> = {}) =>
  fetch(path(), { method: 'POST', body: new URLSearchParams({ code }), headers })

const isVerified = async (user: TestUser, address: string) => {
  const { body } = await user.client.get('/user/emails')
  const rows: unknown[] = Array.isArray(body) ? body : []
  return rows.some((row) => Bun.deepMatch({ email: address, verified: true }, row))
}

test('an address counts once the link in the mail was followed and the button pressed', async () => {
  const address = freshAddress()
  const added = await alice.client.post('/user/emails', { emails: [address] })
  expect(added.body).toContainEqual({ email: address, verified: false, primary: false, user_id: 0, username: '' })
  const basic = service.client({ basic: `${address}:${alice.password}` })
  expect((await basic.get('/user')).status).toBe(401)

  const code = await add(alice, address)
  for (const method of ['HEAD', 'GET']) expect((await open(code, { method })).status).toBe(200)
  const page = await open(code)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(page.headers.get('content-security-policy')).toContain("form-action 'self'")
  expect(page.headers.get('cache-control')).toBe('no-store')
  expect(page.headers.get('referrer-policy')).toBe('same-origin')
  const html = await page.text()
  expect(html).toContain('<html lang="en">')
  expect(html).toContain(`<strong>alice</strong> wants to use <strong>${address}</strong>`)
  expect(html).toContain('<form method="post" action="/user/activate_email"')
  expect(html).not.toContain('<script')
  expect(await isVerified(alice, address)).toBe(false)

  expect((await press(code)).status).toBe(200)
  expect(await isVerified(alice, address)).toBe(true)
  expect((await basic.get('/user')).string('login')).toBe('alice')
  const audit = await service.admin.client.get('/admin/audit', { action: 'user.email_verify' })
  expect(audit.text).toContain(address)
})

test('the mail names the account but nothing that it may choose freely, and only a hash of the code is kept', async () => {
  await alice.client.patch('/user/settings', { full_name: 'You have won https://evil.example' })
  const address = freshAddress()
  const code = await add(alice, address)
  const [mail] = sink.to(address)
  expect(mail?.headers).toContain(`To: ${address}`)
  expect(mail?.text).toContain('The account alice')
  expect(`${mail?.text}${mail?.html}`).not.toContain('evil.example')
  const rows = await service.context.sql`select * from email_confirmations`
  expect(JSON.stringify(rows)).not.toContain(code)
  expect(JSON.stringify(rows)).toContain(sha256Hex(code))
})

describe('a link does not work', () => {
  const nothing = 'f'.repeat(64)
  const refusedPage = async () => (await open(nothing)).text()

  test.each([
    ['none', ''],
    ['malformed', 'x'],
    ['an injection', "' or 1=1 --"],
    ['in capitals', 'F'.repeat(64)],
    ['unknown', nothing],
    ['very long', 'f'.repeat(5000)],
  ])('that is %s', async (_, code) => {
    const encoded = encodeURIComponent(code)
    const opened = await open(encoded)
    expect([opened.status, await opened.text()]).toEqual([404, await refusedPage()])
    const pressed = await press(code)
    expect([pressed.status, await pressed.text()]).toEqual([404, await refusedPage()])
  })

  test('without a code at all, or with two', async () => {
    expect((await fetch(path())).status).toBe(404)
    expect((await fetch(path(), { method: 'POST' })).status).toBe(404)
    expect((await fetch(`${path()}?code=a&code=b`)).status).toBeLessThan(500)
  })

  test('twice, not even at once', async () => {
    const address = freshAddress()
    const code = await add(alice, address)
    const statuses = await Promise.all([press(code), press(code), press(code)].map(async (got) => (await got).status))
    expect(statuses.sort()).toEqual([200, 404, 404])
    expect((await open(code)).status).toBe(404)
  })

  test('once it is too old, and its address goes then', async () => {
    const address = freshAddress()
    const code = await add(alice, address)
    clock.time += 2 * HOUR_MS
    expect((await open(code)).status).toBe(404)
    expect((await press(code)).status).toBe(404)
    expect((await service.admin.client.post('/admin/cron/delete_unconfirmed_emails')).status).toBe(204)
    await service.drain()
    const { text } = await alice.client.get('/user/emails')
    expect(text).not.toContain(address)
    expect(text).toContain('alice@localhost.localdomain')
    expect(
      await service.context.sql`select 1 from email_confirmations where expires_at <= ${clock.now()}`,
    ).toHaveLength(0)
  })

  test('for somebody who is signed in to another account', async () => {
    const address = freshAddress()
    const code = await add(alice, address)
    expect((await open(code, { headers: { authorization: `token ${bob.token}` } })).status).toBe(404)
    expect((await press(code, { authorization: `token ${bob.token}` })).status).toBe(404)
    expect((await press(code, { authorization: `token ${alice.token}` })).status).toBe(200)
  })

  test('once another was mailed, or the address was given up', async () => {
    const address = freshAddress()
    const first = await add(alice, address)
    const second = await add(alice, address.toUpperCase().replace('EXAMPLE.ORG', 'example.org'))
    expect(sink.to(address)).toHaveLength(2)
    expect((await press(first)).status).toBe(404)
    expect((await alice.client.delete('/user/emails', { emails: [address] })).status).toBe(204)
    expect((await press(second)).status).toBe(404)
  })
})

describe('an address that two accounts want', () => {
  test('is of the first that confirms it, and keeps nobody from it until then', async () => {
    const address = freshAddress()
    const squatter = await add(alice, address)
    const owner = await add(bob, address)
    expect((await press(owner)).status).toBe(200)
    const late = await press(squatter)
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('belongs to another account')])
    expect(await isVerified(bob, address)).toBe(true)
    expect(await isVerified(alice, address)).toBe(false)
    const listed = await service.admin.client.get('/admin/emails/search', { q: address, limit: 1 })
    expect(listed.headers.get('x-total-count')).toBe('2')
  })

  test('does not keep its owner from an account, whoever has put it down before', async () => {
    const address = freshAddress()
    const code = await add(alice, address)
    const option = { username: 'owner', email: address, password: 'long enough 1' }
    expect((await service.admin.client.post('/admin/users', option)).status).toBe(201)
    expect((await press(code)).status).toBe(409)
  })

  test('is not told to who asks for one that somebody has: only the mail knows', async () => {
    const taken = await alice.client.post('/user/emails', { emails: ['bob@localhost.localdomain'] })
    const free = await alice.client.post('/user/emails', { emails: [freshAddress()] })
    expect([taken.status, free.status]).toEqual([201, 201])
    await service.drain()
    expect(sink.to('bob@localhost.localdomain')).toHaveLength(1)
  })
})

test('one that is verified already is not asked for again', async () => {
  expect((await bob.client.post('/user/emails', { emails: ['BOB@localhost.localdomain'] })).status).toBe(422)
})

test('an address that waits is nobody in a commit', async () => {
  const address = freshAddress()
  const code = await add(alice, address)
  const repository = await service.createRepository(alice)
  const author = { name: 'Somebody', email: address }
  const file = { content: btoa('x'), message: 'Add', author, committer: author }
  expect((await alice.client.post(`${repository.path}/contents/x.txt`, file)).status).toBe(201)
  const authors = async () => (await alice.client.get(`${repository.path}/commits`, { limit: 1 })).body
  expect(await authors()).toMatchObject([{ author: null }])
  expect((await press(code)).status).toBe(200)
  expect(await authors()).toMatchObject([{ author: { login: 'alice' } }])
})

test('an administrator vouches for the address that is made the primary one', async () => {
  const carl = await service.createUser('carl')
  const address = freshAddress()
  await add(carl, address)
  const change = { login_name: 'carl', source_id: 0, email: address }
  expect((await service.admin.client.patch('/admin/users/carl', change)).status).toBe(200)
  expect(await isVerified(carl, address)).toBe(true)
  const unverified = service.context.sql`update emails set is_activated = false where lower_email = ${address}`
  await expect(unverified).rejects.toThrow('emails_primary_verified')
})

test('nobody is flooded with mails', async () => {
  const victim = freshAddress()
  const dora = await service.createUser('dora')
  for (const user of [dora, bob, alice])
    expect((await user.client.post('/user/emails', { emails: [victim] })).status).toBe(201)
  const fourth = await dora.client.post('/user/emails', { emails: [victim] })
  expect(fourth.status).toBe(429)
  expect(Number(fourth.headers.get('retry-after'))).toBeGreaterThan(3000)
  const many = Array.from({ length: 21 }, freshAddress)
  expect((await dora.client.post('/user/emails', { emails: many })).status).toBe(429)
  expect((await dora.client.get('/user/emails')).body).toHaveLength(2)
  clock.time += HOUR_MS
  expect((await dora.client.post('/user/emails', { emails: [victim] })).status).toBe(201)
})
