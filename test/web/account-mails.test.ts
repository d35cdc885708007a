import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import { createVisitor, type PageAnswer } from '../harness/browser.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { type SmtpSink, startSmtpSink } from '../harness/smtp.ts'

const HOUR_MS = 3_600_000
const PASSWORD = 'correct horse battery'
const clock = { time: Date.now(), now: () => new Date(clock.time) }
let sink: SmtpSink
/** Mails, and confirms addresses. */
let service: TestService
/** Does neither. */
let silent: TestService
beforeAll(async () => {
  sink = await startSmtpSink({ disabledCommands: ['STARTTLS', 'AUTH'] })
  const settings = {
    SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    MAIL_FROM: 'hearth@forge.example',
    CONFIRM_EMAILS: 'true',
    REQUIRE_SIGNIN_VIEW: 'true',
  }
  service = await startTestService({ clock, settings, checksContract: false })
  silent = await startTestService({ clock, checksContract: false })
})
afterAll(async () => {
  await service.stop()
  await silent.stop()
  await sink.stop()
})

let counter = 0
const fresh = () => {
  counter += 1
  return { name: `person${counter}`, email: `person${counter}@example.org` }
}
const visitor = (at = service) => createVisitor(at.url)
/** An hour's mails and forms of the tests before are not counted. */
const nextHour = () => {
  clock.time += HOUR_MS + 1000
}
const linkTo = async (address: string, path: string): Promise<string> => {
  await service.drain()
  const [link = ''] =
    sink
      .to(address)
      .at(-1)
      ?.text.match(new RegExp(`${path}\\?code=[0-9a-f]{64}`)) ?? []
  return link
}
const codeOf = (link: string) => link.slice(link.indexOf('=') + 1)
const withoutIds = ({ status, text }: PageAnswer, ...names: string[]) =>
  names.reduce((rest, name) => rest.replaceAll(name, 'X'), `${status} ${text}`)

describe('signing up', () => {
  test('makes an account at once where addresses need no confirmation, and signs in', async () => {
    const { name, email } = fresh()
    const browser = visitor(silent)
    expect((await browser.get('/user/sign_up')).text).toContain('name="user_name"')
    const fields = { user_name: name, email, password: PASSWORD, retype: PASSWORD }
    expect((await browser.post('/user/sign_up', fields)).location).toBe('/')
    expect((await browser.get('/user/settings')).text).toContain(name)
    expect((await silent.admin.client.get(`/users/${name}`)).body).toMatchObject({
      email,
      active: true,
      is_admin: false,
    })
    const taken = await visitor(silent).post('/user/sign_up', { ...fields, email: 'another@example.org' })
    expect([taken.status, taken.text.includes('aria-invalid')]).toEqual([422, true])
    expect((await browser.get('/user/sign_up')).location).toBe('/')
  })

  test.each([
    ['a reserved name', { user_name: 'admin/../x' }, 'user_name'],
    ['no name', { user_name: '' }, 'user_name'],
    ['an address that is none', { email: 'nonsense' }, 'email'],
    ['a short password', { password: 'short', retype: 'short' }, 'password'],
    ['a password that is guessed first', { password: 'password1', retype: 'password1' }, 'password'],
    ['two passwords', { retype: 'another horse battery' }, 'retype'],
  ])('says what is wrong: %s', async (_, wrong, field) => {
    nextHour()
    for (const at of [silent, service]) {
      const { name, email } = fresh()
      const fields = { user_name: name, email, password: PASSWORD, retype: PASSWORD, ...wrong }
      const answer = await visitor(at).post('/user/sign_up', fields)
      expect([400, 422]).toContain(answer.status)
      expect(answer.text).toContain(`id="${field}-problem"`)
      expect(answer.text).not.toContain(PASSWORD)
    }
    await service.drain()
  })

  test('is counted, and refused to other sites and where only administrators make accounts', async () => {
    nextHour()
    expect((await visitor(silent).post('/user/sign_up', {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    const statuses: number[] = []
    for (let count = 0; count < 31; count += 1) statuses.push((await visitor(silent).post('/user/sign_up')).status)
    expect([statuses[0], statuses.at(-1)]).toEqual([422, 429])
    nextHour()
    const closed = await startTestService({ settings: { ALLOW_REGISTRATION: 'false' }, checksContract: false })
    try {
      const { name, email } = fresh()
      const fields = { user_name: name, email, password: PASSWORD }
      expect((await visitor(closed).get('/user/sign_up')).status).toBe(403)
      expect((await visitor(closed).post('/user/sign_up', fields)).status).toBe(403)
      expect((await visitor(closed).get('/user/login')).text).not.toContain('sign_up')
      expect((await closed.anonymous.get('/api/v1/nodeinfo')).body).toMatchObject({ openRegistrations: false })
      expect((await silent.anonymous.get('/api/v1/nodeinfo')).body).toMatchObject({ openRegistrations: true })
    } finally {
      await closed.stop()
    }
  })

  test('waits for the link in a mail where addresses are confirmed, and for the password', async () => {
    nextHour()
    const { name, email } = fresh()
    const browser = visitor()
    const fields = { user_name: name, email, password: PASSWORD, retype: PASSWORD }
    const mailed = await browser.post('/user/sign_up', fields)
    expect([mailed.status, mailed.text.includes('One step is left')]).toEqual([200, true])
    expect((await service.admin.client.get(`/users/${name}`)).status).toBe(404)
    const link = await linkTo(email, '/user/activate')
    expect((await browser.get(link)).text).toContain('Make the account')
    expect((await service.admin.client.get(`/users/${name}`)).status).toBe(404)
    // Who reads the mail and did not ask for the account does not know the password.
    const wrong = await visitor().post('/user/activate', { code: codeOf(link), password: 'another one' })
    expect([wrong.status, wrong.text.includes('id="password-problem"')]).toEqual([422, true])
    const press = () => visitor().post('/user/activate', { code: codeOf(link), password: PASSWORD })
    const together = await Promise.all([press(), press(), press()])
    expect(together.filter(({ location }) => location === '/')).toHaveLength(1)
    expect((await press()).status).toBe(404)
    await visitor().signIn({ name, password: PASSWORD })
    expect((await service.admin.client.get(`/users/${name}`)).body).toMatchObject({ email, active: true })
  })

  test('tells nobody but its reader that an address has an account', async () => {
    nextHour()
    const [known, unknown] = [fresh(), fresh()]
    await service.createUser(known.name)
    const email = `${known.name}@localhost.localdomain`
    const ask = (name: string, address: string) =>
      visitor().post('/user/sign_up', { user_name: name, email: address, password: PASSWORD, retype: PASSWORD })
    const asked = await ask('somebodyelse', email)
    expect(withoutIds(asked, email)).toBe(withoutIds(await ask('somebodyother', unknown.email), unknown.email))
    await service.drain()
    expect(sink.to(email).at(-1)?.text).toContain(`belongs to your account ${known.name}`)
    expect(sink.to(email).at(-1)?.text).not.toContain('code=')
  })

  test('fails for a link that is too old or is none, and for a name that was taken meanwhile', async () => {
    nextHour()
    const [late, quick] = [fresh(), fresh()]
    await visitor().post('/user/sign_up', { user_name: late.name, email: late.email, password: PASSWORD })
    const link = await linkTo(late.email, '/user/activate')
    await visitor().post('/user/sign_up', { user_name: quick.name, email: quick.email, password: PASSWORD })
    const other = await linkTo(quick.email, '/user/activate')
    await service.createUser(quick.name)
    expect((await visitor().post('/user/activate', { code: codeOf(other), password: PASSWORD })).status).toBe(422)
    clock.time += 25 * HOUR_MS
    for (const code of [codeOf(link), 'nonsense', '', 'a'.repeat(64), 'x'.repeat(300)])
      expect((await visitor().get(`/user/activate?code=${code}`)).status).toBe(404)
    expect((await visitor().post('/user/activate', { code: codeOf(link), password: PASSWORD })).status).toBe(404)
    await service.admin.client.post('/admin/cron/delete_unconfirmed_registrations')
    await service.drain()
    const left = await service.context.sql`select 1 from registrations where expires_at <= ${clock.now()}`
    expect(left).toHaveLength(0)
  })
})

describe('a forgotten password', () => {
  const ask = (email: string) => visitor().post('/user/forgot_password', { email })

  test('is replaced by a mailed link, once; every session ends and the second factor stays', async () => {
    nextHour()
    const { name } = fresh()
    const user = await service.createUser(name)
    const email = `${name}@localhost.localdomain`
    const basic = service.client({ basic: `${name}:${user.password}` })
    const totp = new TOTP({ secret: (await basic.post('/user/two_factor')).string('secret') })
    await basic.post('/user/two_factor/confirm', { code: totp.generate({ timestamp: clock.time }) })
    clock.time += 30_000
    const browser = visitor()
    await browser.signIn(user, totp.generate({ timestamp: clock.time }))
    expect((await browser.get('/user/settings')).status).toBe(200)

    expect((await ask(email.toUpperCase())).status).toBe(200)
    const link = await linkTo(email, '/user/recover_account')
    const code = codeOf(link)
    expect((await visitor().get(link)).text).toContain('name="retype"')
    expect((await browser.get('/user/settings')).status).toBe(200)
    const choose = (password: string, retype = password) =>
      visitor().post('/user/recover_account', { code, password, retype })
    expect((await choose('short')).status).toBe(400)
    expect((await choose('another horse battery', 'x')).status).toBe(422)
    const together = await Promise.all([choose('another horse battery'), choose('a third horse battery')])
    expect(together.map(({ status }) => status).filter((status) => status === 303)).toHaveLength(1)
    expect((await choose('a fourth horse battery')).status).toBe(404)
    expect((await browser.get('/user/settings')).status).toBe(303)
    const won = together[0]?.status === 303 ? 'another horse battery' : 'a third horse battery'
    const answer = await visitor().post('/user/login', { user_name: name, password: won })
    expect(answer.location).toBe('/user/two_factor')
    const done = await visitor().get('/user/login?done=password')
    expect(done.text).toContain('The password is changed')
    await service.drain()
    expect(sink.to(email).at(-1)?.text).toContain('by you')
  })

  test('is answered in the same way for known, unknown and closed accounts', async () => {
    nextHour()
    const { name } = fresh()
    await service.createUser(name)
    const closed = await service.createUser()
    await service.admin.client.patch(`/admin/users/${closed.name}`, { login_name: closed.name, prohibit_login: true })
    await service.drain()
    const addresses = [`${name}@localhost.localdomain`, 'nobody@example.org', `${closed.name}@localhost.localdomain`]
    const before = sink.mails.length
    const answers: string[] = []
    for (const address of addresses) answers.push(withoutIds(await ask(address), address))
    expect(new Set(answers).size).toBe(1)
    await service.drain()
    expect(sink.mails.length).toBe(before + 1)
    // Nobody is flooded, and nobody learns who would have been.
    for (const address of addresses.slice(0, 2)) {
      await ask(address)
      await ask(address)
      expect((await ask(address)).status).toBe(429)
    }
    expect((await ask('nonsense')).status).toBe(422)
    expect((await visitor().post('/user/forgot_password', { email: 'a@b.example' }, { origin: 'null' })).status).toBe(
      403,
    )
  })

  test('is not replaced by a link that is too old, or after another password or without its address', async () => {
    nextHour()
    const { name } = fresh()
    const user = await service.createUser(name)
    const email = `${name}@localhost.localdomain`
    const works = async (link: string) => (await visitor().get(link)).status === 200
    const asked = async () => {
      await ask(email)
      return linkTo(email, '/user/recover_account')
    }
    const first = await asked()
    const second = await asked()
    expect([await works(first), await works(second)]).toEqual([false, true])
    const basic = service.client({ basic: `${name}:${user.password}` })
    expect((await basic.put('/user/password', { new_password: 'another horse battery' })).status).toBe(204)
    expect(await works(second)).toBe(false)
    const third = await asked()
    expect(await works(third)).toBe(true)
    clock.time += 3 * HOUR_MS
    expect(await works(third)).toBe(false)
    await service.admin.client.post('/admin/cron/delete_expired_password_resets')
    await service.drain()
    expect(await service.context.sql`select 1 from password_resets where expires_at <= ${clock.now()}`).toHaveLength(0)
    const fourth = await asked()
    await service.admin.client.patch(`/admin/users/${name}`, { login_name: name, email: 'elsewhere@example.org' })
    expect([fourth === '', await works(fourth)]).toEqual([false, false])
    for (const code of ['', 'nonsense', 'a'.repeat(64)])
      expect(await works(`/user/recover_account?code=${code}`)).toBe(false)
  })

  test('is a matter of the administrators where nothing is mailed', async () => {
    const page = await visitor(silent).get('/user/forgot_password')
    expect([page.status, page.text.includes('name="email"')]).toEqual([200, false])
    expect((await visitor(silent).post('/user/forgot_password', { email: 'a@b.example' })).status).toBe(503)
    expect((await visitor(silent).get('/user/login')).text).not.toContain('forgot_password')
  })
})
