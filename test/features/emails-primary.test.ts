import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { type SmtpSink, startSmtpSink } from '../harness/smtp.ts'

let sink: SmtpSink
let service: TestService
beforeAll(async () => {
  sink = await startSmtpSink({ disabledCommands: ['STARTTLS', 'AUTH'] })
  const settings = { SMTP_URL: `smtp://127.0.0.1:${sink.port}`, MAIL_FROM: 'hearth@forge.example' }
  service = await startTestService({ settings })
})
afterAll(async () => {
  await service.stop()
  await sink.stop()
})

const PATH = '/user/emails/primary'
const basicOf = ({ name, password }: TestUser) => service.client({ basic: `${name}:${password}` })
const oldAddress = ({ name }: TestUser) => `${name}@localhost.localdomain`

/** A person with a second address, spelt with a capital. */
async function personWithTwo(): Promise<{ user: TestUser; second: string }> {
  const user = await service.createUser()
  const second = `Second-${user.name}@example.org`
  expect((await user.client.post('/user/emails', { emails: [second] })).status).toBe(201)
  return { user, second }
}

const choose = (user: TestUser, email: string) => basicOf(user).post(PATH, { email })

async function primaryOf(user: TestUser): Promise<string[]> {
  const { body } = await user.client.get('/user/emails')
  const rows: unknown[] = Array.isArray(body) ? body : []
  return rows
    .filter((row) => Bun.deepMatch({ primary: true }, row))
    .map((row) => String(Reflect.get(Object(row), 'email')))
}

test('one of the own addresses, in whatever letters, becomes the primary one everywhere', async () => {
  const { user, second } = await personWithTwo()
  expect((await user.client.get('/user')).string('email')).toBe(oldAddress(user))
  const chosen = await choose(user, second.toUpperCase())
  expect(chosen.status).toBe(200)
  expect(chosen.body).toMatchObject([
    { email: oldAddress(user), primary: false, verified: true },
    { email: second, primary: true, verified: true },
  ])
  expect((await user.client.get('/user')).string('email')).toBe(second)
  expect((await user.client.delete('/user/emails', { emails: [second] })).status).toBe(422)
  expect((await user.client.delete('/user/emails', { emails: [oldAddress(user)] })).status).toBe(204)
})

test('the old address is told, and the audit trail has both', async () => {
  const { user, second } = await personWithTwo()
  expect((await choose(user, second)).status).toBe(200)
  await service.drain()
  const [mail] = sink.to(oldAddress(user))
  expect(mail?.headers).toContain('Subject: Your e-mail address was changed')
  expect(mail?.text).toContain(second)
  expect(mail?.text).toContain('It was done by you')
  expect(sink.to(second)).toEqual([])
  const trail = await service.admin.client.get('/admin/audit', { action: 'user.edit', actor: user.name })
  expect(trail.body).toMatchObject([
    { actor: { name: user.name }, method: 'password', changes: { email: { before: oldAddress(user), after: second } } },
  ])
})

test('choosing the primary one again changes nothing and tells nobody', async () => {
  const { user } = await personWithTwo()
  expect((await choose(user, oldAddress(user))).status).toBe(200)
  await service.drain()
  expect(await primaryOf(user)).toEqual([oldAddress(user)])
  expect(sink.to(oldAddress(user))).toEqual([])
  const trail = await service.admin.client.get('/admin/audit', { action: 'user.edit', actor: user.name })
  expect(trail.body).toEqual([])
})

test('an address of somebody else, one that nobody has, and none at all are refused', async () => {
  const { user } = await personWithTwo()
  const other = await service.createUser()
  const [foreign, unknown] = [await choose(user, oldAddress(other)), await choose(user, 'nobody@example.org')]
  expect([foreign.status, unknown.status]).toEqual([404, 404])
  // Whether somebody has the address is not told.
  expect(Object(foreign.body).message).toBe(Object(unknown.body).message)
  for (const json of [{}, { email: 7 }, { email: `${'a'.repeat(250)}@example.org` }, { email: 'a\0@example.org' }])
    expect((await basicOf(user).post(PATH, json)).status).toBe(422)
  expect(await primaryOf(user)).toEqual([oldAddress(user)])
  expect(await primaryOf(other)).toEqual([oldAddress(other)])
})

test('an address that waits to be confirmed is refused', async () => {
  const { user } = await personWithTwo()
  await service.context
    .sql`insert into emails (user_id, email) select id, 'waiting@example.org' from users where name = ${user.name}`
  expect((await choose(user, 'waiting@example.org')).status).toBe(422)
  expect(await primaryOf(user)).toEqual([oldAddress(user)])
})

test('it takes the password: neither a token, nor a visitor, nor an administrator in the name of another', async () => {
  const { user, second } = await personWithTwo()
  expect((await service.anonymous.post(PATH, { email: second })).status).toBe(401)
  expect((await user.client.post(PATH, { email: second })).status).toBe(401)
  const read = await basicOf(user).post(`/users/${user.name}/tokens`, { name: 'reads', scopes: ['read:user'] })
  expect((await service.client({ token: read.string('sha1') }).post(PATH, { email: second })).status).toBe(403)
  const admin = basicOf(service.admin)
  expect(
    (await admin.request(PATH, { method: 'POST', json: { email: second }, headers: { sudo: user.name } })).status,
  ).toBe(403)
  expect(await primaryOf(user)).toEqual([oldAddress(user)])
})

test('who goes to and fro cannot flood an address with mails', async () => {
  const { user, second } = await personWithTwo()
  const statuses: number[] = []
  for (let turn = 0; turn < 7; turn += 1)
    statuses.push((await choose(user, turn % 2 === 0 ? second : oldAddress(user))).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429])
  await service.drain()
  expect(sink.to(oldAddress(user))).toHaveLength(3)
  expect(sink.to(second)).toHaveLength(3)
})
