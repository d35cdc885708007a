import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import { startTestService, type TestService } from '../harness/service.ts'
import { type SmtpSink, startSmtpSink } from '../harness/smtp.ts'

let sink: SmtpSink
let service: TestService
beforeAll(async () => {
  sink = await startSmtpSink({ disabledCommands: ['STARTTLS', 'AUTH'] })
  service = await startTestService({
    settings: { SMTP_URL: `smtp://127.0.0.1:${sink.port}`, MAIL_FROM: 'Hearth <hearth@forge.example>' },
  })
})
beforeEach(() => {
  sink.mails.length = 0
})
afterAll(async () => {
  await service.stop()
  await sink.stop()
})

const PASSWORD = 'long enough 1'
const person = (name: string, more: object = {}) => ({
  username: name,
  email: `${name}@example.com`,
  password: PASSWORD,
  ...more,
})
const make = (name: string, more: object = {}) => service.admin.client.post('/admin/users', person(name, more))
const basicOf = (name: string, password = PASSWORD) => service.client({ basic: `${name}:${password}` })
const subjects = () => sink.mails.map(({ headers }) => headers.find((header) => header.startsWith('Subject: ')))

test('a new account is told of by mail where the administrator asks for it, without its password', async () => {
  expect((await make('anna', { full_name: 'Anna <b>\r\nBcc: x@example.org', send_notify: true })).status).toBe(201)
  expect((await make('quiet')).status).toBe(201)
  await service.drain()
  expect(sink.mails).toHaveLength(1)
  const [mail] = sink.to('anna@example.com')
  expect(mail?.headers).toContain('Subject: Your account is ready')
  expect(mail?.headers.filter((header) => /^bcc/i.test(header))).toEqual([])
  expect(mail?.text).toStartWith('Hello Anna <b> Bcc: x@example.org,\n')
  expect(mail?.text).toContain('user name anna.')
  expect(mail?.text).toContain(`\n${service.url}\n`)
  expect(mail?.text).toContain('you must change it')
  expect(mail?.html).toContain('Hello Anna &lt;b&gt;')
  expect(`${mail?.text}${mail?.html}`).not.toContain(PASSWORD)
})

test('who need not change the password is not told to', async () => {
  await make('bert', { send_notify: true, must_change_password: false })
  await service.drain()
  expect(sink.to('bert@example.com')[0]?.text).not.toContain('must change')
})

test('an account that is refused is not mailed', async () => {
  await make('carl')
  expect((await make('CARL', { email: 'other@example.com', send_notify: true })).status).toBe(422)
  await service.drain()
  expect(sink.mails).toEqual([])
})

test('another password is told of, with who did it', async () => {
  await make('dora', { must_change_password: false })
  expect((await basicOf('dora').put('/user/password', { new_password: 'another one 2' })).status).toBe(204)
  const change = { login_name: 'dora', source_id: 0, password: 'a third one 3' }
  expect((await service.admin.client.patch('/admin/users/dora', change)).status).toBe(200)
  const nothing = { login_name: 'dora', source_id: 0, full_name: 'Dora' }
  expect((await service.admin.client.patch('/admin/users/dora', nothing)).status).toBe(200)
  await service.drain()
  expect(subjects()).toEqual(['Subject: Your password was changed', 'Subject: Your password was changed'])
  const [own, byAdministrator] = sink.to('dora@example.com')
  expect(own?.text).toContain('It was done by you')
  expect(byAdministrator?.text).toContain('It was done by an administrator.')
})

test('another primary address is told of at the old one', async () => {
  await make('emil')
  const change = { login_name: 'emil', source_id: 0, email: 'new@example.com' }
  expect((await service.admin.client.patch('/admin/users/emil', change)).status).toBe(200)
  expect((await service.admin.client.patch('/admin/users/emil', change)).status).toBe(200)
  await service.drain()
  expect(subjects()).toEqual(['Subject: Your e-mail address was changed'])
  expect(sink.to('emil@example.com')[0]?.text).toContain('new@example.com')
})

test('two-factor authentication that is switched off is told of', async () => {
  await make('fred', { must_change_password: false })
  const fred = basicOf('fred')
  const totp = new TOTP({ secret: (await fred.post('/user/two_factor')).string('secret') })
  expect((await fred.post('/user/two_factor/confirm', { code: totp.generate() })).status).toBe(200)
  expect((await service.admin.client.delete('/admin/users/fred/two_factor')).status).toBe(204)
  await service.drain()
  expect(subjects()).toEqual(['Subject: Two-factor authentication was switched off'])
})

test('without SMTP_URL nothing waits to be mailed', async () => {
  const silent = await startTestService()
  const option = person('gina', { send_notify: true })
  expect((await silent.admin.client.post('/admin/users', option)).status).toBe(201)
  expect(await silent.context.sql`select 1 from jobs where name = 'mail.send'`).toHaveLength(0)
  await silent.stop()
})
