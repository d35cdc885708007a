import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createSecrets } from '../../src/auth/secrets.ts'
import { loadConfig } from '../../src/config.ts'
import { listFailedJobs, retryFailedJob } from '../../src/jobs/failures.ts'
import { composeMail, openMail, sealMail } from '../../src/mail/mail.ts'
import { createMailer, MailError } from '../../src/mail/mailer.ts'
import { mailLetter } from '../../src/mail/send.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { type SinkOptions, type SmtpSink, startSmtpSink } from '../harness/smtp.ts'

const MAIL_FROM = 'Hearth of Zoë <hearth@forge.example>'
const now = new Date('2026-11-21T10:00:00Z')
const letter = { to: { address: 'zoe@example.org', name: 'Zoë' }, subject: 'Grüße', paragraphs: ['One.', 'Two: <b>.'] }
const mail = composeMail(letter, { baseUrl: 'https://forge.example', now })

const mailerFor = (smtpUrl: string, more: Record<string, string> = {}) => {
  const mailer = createMailer(loadConfig({ SMTP_URL: smtpUrl, MAIL_FROM, SMTP_TIMEOUT_SECONDS: '5', ...more }))
  if (mailer === undefined) throw new Error('no mailer')
  return mailer
}

const faultOf = async (work: Promise<unknown>): Promise<MailError> => {
  const fault = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(fault instanceof MailError)) throw new Error(`no MailError but ${String(fault)}`)
  return fault
}

describe('the way to the mail server', () => {
  const login = { user: 'us er@forge', password: 'p@ss:/word' }
  const credentials = `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}`
  const plain: SinkOptions = { disabledCommands: ['STARTTLS', 'AUTH'] }

  async function withSink(options: SinkOptions, work: (sink: SmtpSink) => Promise<void>): Promise<void> {
    const sink = await startSmtpSink(options)
    try {
      await work(sink)
    } finally {
      await sink.stop()
    }
  }

  test.each([
    ['without TLS where none is offered', plain, 'smtp://127.0.0.1', {}, false],
    ['STARTTLS and a login', { login }, `smtp://${credentials}@127.0.0.1`, { SMTP_TLS: 'unverified' }, true],
    ['TLS and a login', { login, secure: true }, `smtps://${credentials}@127.0.0.1`, { SMTP_TLS: 'unverified' }, true],
  ])('%s', async (_, options: SinkOptions, url, more: Record<string, string>, isEncrypted) => {
    await withSink(options, async (sink) => {
      const mailer = mailerFor(`${url}:${sink.port}`, more)
      await mailer.check()
      expect(sink.mails).toEqual([])
      await mailer.send(mail)
      mailer.close()
      const user = options.login?.user
      expect(sink.mails).toMatchObject([{ from: 'hearth@forge.example', to: ['zoe@example.org'], isEncrypted, user }])
    })
  })

  test.each([
    ['a certificate that nobody vouches for', { login }, {}],
    ['no STARTTLS where it is demanded', plain, { SMTP_TLS: 'required' }],
  ])('%s sends nothing, and may work later', async (_, options: SinkOptions, more: Record<string, string>) => {
    await withSink(options, async (sink) => {
      const mailer = mailerFor(`smtp://${options.login ? `${credentials}@` : ''}127.0.0.1:${sink.port}`, more)
      expect((await faultOf(mailer.send(mail))).isPermanent).toBe(false)
      expect((await faultOf(mailer.check())).message).not.toBe('')
      mailer.close()
      expect(sink.mails).toEqual([])
    })
  })

  test('a password leaves this machine encrypted or not at all', async () => {
    const hostile: SinkOptions = { login, disabledCommands: ['STARTTLS'], allowInsecureAuth: true }
    await withSink(hostile, async (sink) => {
      // Linux takes 0.0.0.0 for this machine; the program takes it for another.
      const remote = mailerFor(`smtp://${credentials}@0.0.0.0:${sink.port}`)
      expect((await faultOf(remote.send(mail))).message).toContain('STARTTLS')
      remote.close()
      expect(sink.connections).toBe(1)
      expect(sink.mails).toEqual([])
      const local = mailerFor(`smtp://${credentials}@127.0.0.1:${sink.port}`)
      await local.send(mail)
      local.close()
      expect(sink.mails).toMatchObject([{ isEncrypted: false, user: login.user }])
    })
  })

  test('a refused password is no fault of the mail, and stands in no message', async () => {
    await withSink({ login }, async (sink) => {
      const mailer = mailerFor(`smtp://somebody:hunter2secret@127.0.0.1:${sink.port}`, { SMTP_TLS: 'unverified' })
      const fault = await faultOf(mailer.send(mail))
      expect(fault).toMatchObject({ isPermanent: false })
      expect(fault.message).toContain('535')
      expect(JSON.stringify([fault.message, fault.stack, fault])).not.toContain('hunter2secret')
      expect(mailer.server).not.toContain('hunter2secret')
      mailer.close()
    })
  })

  test('a silent server is given up', async () => {
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const mailer = mailerFor(`smtp://127.0.0.1:${silent.port}`, { SMTP_TIMEOUT_SECONDS: '1' })
    expect((await faultOf(mailer.send(mail))).isPermanent).toBe(false)
    mailer.close()
    silent.stop(true)
  })

  test('many mails share few connections', async () => {
    await withSink(plain, async (sink) => {
      const mailer = mailerFor(`smtp://127.0.0.1:${sink.port}`, { SMTP_MAX_CONNECTIONS: '2' })
      await Promise.all(Array.from({ length: 20 }, () => mailer.send(mail)))
      mailer.close()
      expect(sink.mails).toHaveLength(20)
      expect(sink.connections).toBeLessThanOrEqual(2)
    })
  })

  test.each([
    'smtp://',
    'smtp://u@h',
    'smtp://u:%zz@h',
    'smtp://h/path',
    'smtp://h?pool=false',
    'smtp://h:0',
    'http://h',
  ])('%s is refused without being shown', (url) => {
    expect(() => loadConfig({ SMTP_URL: url, MAIL_FROM })).toThrow(/^SMTP_URL=\(hidden\) is not allowed: smtp:/)
  })

  test.each([
    [{ SMTP_URL: 'smtp://localhost' }, 'MAIL_FROM is not set'],
    [{ MAIL_FROM: 'no address' }, 'MAIL_FROM="no address" is not allowed'],
    [{ MAIL_FROM: 'A\u0007 <a@example.org>' }, 'is not allowed'],
    [{ CONFIRM_EMAILS: 'true' }, 'CONFIRM_EMAILS=true needs SMTP_URL'],
  ])('%o is refused', (env, message) => {
    expect(() => loadConfig(env)).toThrow(message)
  })
})

describe('a mail in the queue', () => {
  let sink: SmtpSink
  let service: TestService
  beforeAll(async () => {
    sink = await startSmtpSink({ disabledCommands: ['STARTTLS', 'AUTH'] })
    service = await startTestService({ settings: { SMTP_URL: `smtp://127.0.0.1:${sink.port}`, MAIL_FROM } })
  })
  beforeEach(() => {
    sink.mails.length = 0
    sink.refusal = undefined
  })
  afterAll(async () => {
    await service.stop()
    await sink.stop()
  })

  const jobs = () => service.context.sql`select * from jobs where name = 'mail.send'`
  const post = () => service.context.db.transaction((tx) => mailLetter(service.context, tx, letter))

  test('arrives as text and HTML, with headers that machines understand', async () => {
    await post()
    await service.drain()
    const [got] = sink.mails
    expect(got?.headers).toEqual([
      'Auto-Submitted: auto-generated',
      'From: =?UTF-8?Q?Hearth_of_Zo=C3=AB?= <hearth@forge.example>',
      'To: =?UTF-8?Q?Zo=C3=AB?= <zoe@example.org>',
      'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=',
      expect.stringMatching(/^Message-ID: <[0-9a-f]{32}@forge\.example>$/),
      expect.stringMatching(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/),
      'MIME-Version: 1.0',
      expect.stringMatching(/^Content-Type: multipart\/alternative;/),
    ])
    expect(got?.text).toBe(`One.\n\nTwo: <b>.\n\n-- \nHearth at ${service.url}\n`)
    expect(got?.html).toContain('<p>Two: &lt;b&gt;.</p>')
    expect(await jobs()).toHaveLength(0)
  })

  test('is not readable in the database, and not there when its change is not', async () => {
    await post()
    expect(JSON.stringify(await service.context.sql`select * from jobs`)).not.toContain('zoe')
    await service.drain()
    const undone = service.context.db.transaction(async (tx) => {
      await mailLetter(service.context, tx, letter)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await jobs()).toHaveLength(0)
    expect(sink.mails).toHaveLength(1)
  })

  test('waits for a server that is down, and is delivered once', async () => {
    await sink.stop()
    await post()
    await service.drain()
    const [failed] = await listFailedJobs(service.context.db)
    expect(failed).toMatchObject({ name: 'mail.send', attempts: 1, nextAttemptAt: expect.any(Date) })
    await sink.start()
    expect(await retryFailedJob(service.context.db, failed?.id ?? 0)).toBe(true)
    await service.drain()
    await service.drain()
    expect(sink.mails).toHaveLength(1)
    expect(await jobs()).toHaveLength(0)
  })

  test.each([
    [451, 1],
    [530, 1],
    [550, 0],
  ])('that is answered with %d leaves %d jobs', async (status, left) => {
    sink.refusal = status
    await post()
    await service.drain()
    expect(await jobs()).toHaveLength(left)
    expect(sink.mails).toHaveLength(0)
    await service.context.sql`delete from jobs`
  })
})

test.each([
  ['a line break', 'Eve\r\nBcc: eve@example.org'],
  ['a bare line feed', 'Eve\nBcc: eve@example.org'],
  ['other line ends', 'Eve\u2028Bcc: x\u0085\u0000'],
  ['marks of an address', 'Eve" <eve@example.org>, "'],
])('%s in a name or a subject stays one, to one receiver', async (_, evil) => {
  const sink = await startSmtpSink({ disabledCommands: ['STARTTLS', 'AUTH'] })
  const mailer = mailerFor(`smtp://127.0.0.1:${sink.port}`)
  const attack = { to: { address: 'zoe@example.org', name: evil }, subject: evil, paragraphs: [`${evil}\r\n.\r\nRSET`] }
  await mailer.send(composeMail(attack, { baseUrl: 'https://forge.example', now }))
  mailer.close()
  await sink.stop()
  expect(sink.mails).toHaveLength(1)
  const [got] = sink.mails
  expect(got?.to).toEqual(['zoe@example.org'])
  const names = got?.headers.map((header) => header.slice(0, header.indexOf(':')))
  expect(names).toEqual([
    'Auto-Submitted',
    'From',
    'To',
    'Subject',
    'Message-ID',
    'Date',
    'MIME-Version',
    'Content-Type',
  ])
  expect(got?.headers[2]).toEndWith('<zoe@example.org>')
})

test('a sealed mail opens with its own key only', () => {
  const sealed = sealMail(createSecrets('a'.repeat(32)), mail)
  expect(openMail(createSecrets('a'.repeat(32)), sealed)).toEqual(mail)
  expect(() => openMail(createSecrets('b'.repeat(32)), sealed)).toThrow()
})
