import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import pino from 'pino'
import { createVisitor, formTokenIn } from '../harness/browser.ts'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
let written = ''
beforeAll(async () => {
  const sink = new Writable({
    write(chunk, _, done) {
      written += String(chunk)
      done()
    },
  })
  service = await startTestService({ log: pino({ level: 'trace' }, sink) })
})
afterAll(() => service.stop())

test('no line of the log holds a password, a token or a code, in whatever place it came', async () => {
  const user = await service.createUser()
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  await service.anonymous.get('/user', { token: user.token })
  await service.anonymous.get('/user', { access_token: user.token })
  await service.anonymous.get(`/users/${user.name}/repos`, { token: 'f'.repeat(40) })
  await basic.request('/user', { headers: { 'X-Service-OTP': '918273' } })
  await service.client({ basic: `${user.name}:wrong horse` }).get('/user')
  await basic.put('/user/password', { new_password: 'another horse battery' })
  const enrolment = await service.client({ basic: `${user.name}:another horse battery` }).post('/user/two_factor')
  const browser = createVisitor(service.url)
  await browser.post('/user/login', { user_name: user.name, password: 'wrong horse' })
  const other = await service.createUser()
  await browser.signIn(other)
  const cookie = browser.cookie('hearth_session') ?? ''
  const page = await browser.get('/user/settings/security/two_factor/enroll')
  await browser.post('/user/settings/security/two_factor/enroll', { passcode: '564738' })
  const [, seed = 'no seed'] = /<code>([A-Z2-7]{32})<\/code>/.exec(page.text) ?? []
  const made = await browser.post('/user/settings/applications', { name: 'one' })
  const [, token = 'no token'] = /<code>([0-9a-f]{40})<\/code>/.exec(made.text) ?? []
  await browser.get(`/user/recover_account?code=${'e'.repeat(64)}`)
  await fetch(`${service.url}/x%00y?token=${user.token}`)
  await fetch(`${service.url}/evil%0d%0ainjected`, { headers: { 'user-agent': 'a\u001b[31mb' } })
  expect(written).toContain('"path":"/api/v1/user"')
  const secrets = [
    user.token,
    user.password,
    'f'.repeat(40),
    '918273',
    'wrong horse',
    'another horse',
    enrolment.string('secret'),
    cookie,
    formTokenIn(page),
    seed,
    token,
    '564738',
    'e'.repeat(64),
  ]
  for (const secret of [...secrets, btoa(`${user.name}:${user.password}`)]) expect(written).not.toContain(secret)
  for (const line of written.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
})
