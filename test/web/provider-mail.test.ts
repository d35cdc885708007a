import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startOpenIdProvider, type TestProvider } from '../harness/openid-provider.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { type SmtpSink, startSmtpSink } from '../harness/smtp.ts'
import { addTestSource, comeBy, newVisitor, whoIs } from './provider-stage.ts'

let service: TestService
let provider: TestProvider
let sink: SmtpSink
beforeAll(async () => {
  provider = await startOpenIdProvider()
  sink = await startSmtpSink({ disabledCommands: ['STARTTLS', 'AUTH'] })
  service = await startTestService({
    checksContract: false,
    settings: {
      AUTH_SOURCE_ALLOWED_HOSTS: 'loopback',
      SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
      MAIL_FROM: 'hearth@forge.example',
      CONFIRM_EMAILS: 'true',
      ALLOW_REGISTRATION: 'false',
    },
  })
  await addTestSource(service, provider, { registration: 'automatic' })
})
afterAll(async () => {
  await service.stop()
  await sink.stop()
  provider.stop()
})

const come = async (person: Record<string, unknown> & { sub: string }) => {
  provider.person = person
  const visitor = newVisitor(service)
  const answer = await comeBy(visitor)
  return { visitor, answer }
}
const askForRecovery = async (email: string) => {
  const answer = await newVisitor(service).post('/user/forgot_password', { email })
  await service.drain()
  return { answer, text: sink.to(email).at(-1)?.text ?? '' }
}

test('where addresses are confirmed, the provider has to have confirmed it', async () => {
  const email = 'ann@corp.example'
  const { visitor, answer } = await come({ sub: '1', preferred_username: 'ann', email, email_verified: false })
  expect(answer.location).toBe('/user/link_account')
  const refused = await visitor.post('/user/link_account_signup', { user_name: 'ann', email })
  expect([refused.status, refused.text.includes('has confirmed')]).toEqual([422, true])
  // The source says so by itself, though people make no accounts here.
  const again = await come({ sub: '1', preferred_username: 'ann', email, email_verified: true })
  expect([again.answer.location, await whoIs(again.visitor)]).toEqual(['/', 'ann'])
  const [row] = await service.context.sql`select is_proven as proven from emails where email = ${email}`
  expect(row?.proven).toBe(true)
})

test('who forgot a password that they never had is told where they sign in', async () => {
  const email = 'bea@corp.example'
  const { visitor } = await come({ sub: '2', preferred_username: 'bea', email, email_verified: true })
  const known = await askForRecovery(email)
  const unknown = await askForRecovery('nobody@corp.example')
  const page = (text: string) => text.replace(/<strong>[^<]*@[^<]*<\/strong>/, '')
  expect([known.answer.status, page(known.answer.text)]).toEqual([200, page(unknown.answer.text)])
  expect(known.text).toContain('you sign in with Corp <ID>')
  expect(known.text).not.toContain('code=')
  expect(await service.context.sql`select 1 from password_resets`).toHaveLength(0)
  const password = 'correct horse battery'
  await visitor.post('/user/settings/change_password', { password, retype: password })
  expect((await askForRecovery(email)).text).toMatch(/code=[0-9a-f]{64}/)
})

test('another way in is told to whoever has the account', async () => {
  const user = await service.createUser()
  const visitor = newVisitor(service)
  await visitor.signIn(user)
  provider.person = { sub: '3' }
  await comeBy(visitor, { query: '?connect=1' })
  await visitor.post('/user/link_account_signin')
  await service.drain()
  expect(sink.to(`${user.name}@localhost.localdomain`).at(-1)?.text).toContain('can be signed in to by Corp <ID>')
})
