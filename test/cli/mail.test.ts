import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadConfig } from '../../src/config.ts'
import { checkMail } from '../../src/doctor/mail.ts'
import { runProgram } from '../harness/program.ts'
import { type SmtpSink, startSmtpSink } from '../harness/smtp.ts'

const login = { user: 'forge', password: 'hunter2secret' }
let sink: SmtpSink
let settings: Record<string, string>
beforeAll(async () => {
  sink = await startSmtpSink({ login })
  settings = {
    SMTP_URL: `smtp://${login.user}:${login.password}@127.0.0.1:${sink.port}`,
    MAIL_FROM: 'Hearth <hearth@forge.example>',
    SMTP_TLS: 'unverified',
  }
})
afterAll(() => sink.stop())

const run = (words: string, more: Record<string, string> = {}) => runProgram(words.split(' '), { ...settings, ...more })

test('a test mail is sent at once', async () => {
  const { exitCode, stdout, stderr } = await run('mail test zoe@example.org', { PUBLIC_URL: 'https://forge.example' })
  expect(stderr).toBe('')
  expect(stdout).toBe(`smtp://127.0.0.1:${sink.port} took the mail to zoe@example.org.\n`)
  expect(exitCode).toBe(0)
  expect(sink.mails).toMatchObject([{ to: ['zoe@example.org'], user: login.user, isEncrypted: true }])
  expect(sink.mails[0]?.text).toContain('Hearth at https://forge.example')
})

test.each([
  ['mail test nobody', {}, 64, '"nobody" is no e-mail address'],
  ['mail test a@example.org', { SMTP_URL: '' }, 78, 'SMTP_URL is not set'],
  ['mail test a@example.org', { MAIL_FROM: '' }, 78, 'MAIL_FROM is not set'],
  ['mail test a@example.org', { SMTP_TLS: 'auto' }, 1, 'did not take the mail'],
  ['serve', { SMTP_URL: '', CONFIRM_EMAILS: 'true' }, 78, 'CONFIRM_EMAILS=true needs SMTP_URL'],
])('"%s" with %o ends with %d', async (words, more: Record<string, string>, status, message) => {
  const { exitCode, stdout, stderr } = await run(words, more)
  expect(stderr).toContain(message)
  expect(exitCode).toBe(status)
  expect(`${stdout}${stderr}`).not.toContain(login.password)
})

test('the settings are printed without the password', async () => {
  const { stdout } = await run('config')
  expect(stdout).toContain('SMTP_URL=(hidden)\n')
  expect(stdout).not.toContain(login.password)
})

test('doctor says whether mail works, and how to fix it', async () => {
  expect(await checkMail(loadConfig({}))).toEqual({ subject: 'Mail', detail: expect.stringContaining('off') })
  const fine = await checkMail(loadConfig(settings))
  expect(fine).toEqual({ subject: 'Mail', detail: expect.stringContaining('answers; mails come from Hearth <') })
  const wrong = { ...settings, SMTP_URL: `smtp://${login.user}:wrong@127.0.0.1:${sink.port}` }
  expect(await checkMail(loadConfig(wrong))).toMatchObject({
    detail: expect.stringContaining('refused the user or the password'),
    remedy: expect.stringContaining('SMTP_URL'),
  })
  const down = { ...settings, SMTP_URL: 'smtp://127.0.0.1:1' }
  expect((await checkMail(loadConfig(down))).remedy).toContain('start the mail server')
})
