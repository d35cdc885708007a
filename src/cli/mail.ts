import { ConfigError, loadProcessConfig } from '../config.ts'
import { isEmailAddress } from '../kernel/email.ts'
import { messageOf } from '../kernel/thrown.ts'
import { systemClock } from '../kernel/time.ts'
import { composeMail } from '../mail/mail.ts'
import { createMailer } from '../mail/mailer.ts'
import { type Command, UsageError } from './arguments.ts'

const test: Command = {
  name: 'mail test',
  summary: 'Sends a test mail at once, and says what the mail server answered.',
  details: `Uses SMTP_URL, MAIL_FROM, SMTP_TLS and SMTP_TIMEOUT_SECONDS as the server does; needs no database.
The exit status is 0 when the mail server took the mail, 1 when it did not, 78 when SMTP_URL is not set.`,
  operands: ['ADDRESS'],
  async run({ operands: [address = ''] }) {
    if (!isEmailAddress(address)) throw new UsageError(`"${address}" is no e-mail address`)
    const config = loadProcessConfig()
    const mailer = createMailer(config)
    if (mailer === undefined) throw new ConfigError('SMTP_URL is not set: nothing can be mailed')
    const baseUrl = config.publicUrl ?? `http://localhost:${config.port}`
    const letter = {
      to: { address },
      subject: 'A test mail',
      paragraphs: ['This mail was asked for on the command line of the service. It has arrived: mail works.'],
    }
    try {
      await mailer.send(composeMail(letter, { baseUrl, now: systemClock.now() }))
    } catch (error) {
      process.stderr.write(`${mailer.server} did not take the mail: ${messageOf(error)}\n`)
      return 1
    } finally {
      mailer.close()
    }
    process.stdout.write(`${mailer.server} took the mail to ${address}.\n`)
    return 0
  },
}

export const mailCommands: readonly Command[] = [test]
