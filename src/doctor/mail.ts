import type { Config } from '../config.ts'
import { messageOf } from '../kernel/thrown.ts'
import { createMailer } from '../mail/mailer.ts'
import type { Finding } from './finding.ts'

/** Whether mails are sent at all, and whether the mail server answers and lets us in. Sends none. */
export async function checkMail(config: Config): Promise<Finding> {
  const subject = 'Mail'
  const mailer = createMailer(config)
  if (mailer === undefined) return { subject, detail: 'off, since SMTP_URL is not set: nobody is mailed anything' }
  try {
    await mailer.check()
    return { subject, detail: `${mailer.server} answers; mails come from ${config.mailFrom}` }
  } catch (error) {
    return {
      subject,
      detail: `${mailer.server}: ${messageOf(error)}`,
      remedy:
        'start the mail server, or correct SMTP_URL (host, port, user, password; smtps:// for TLS from the start) and SMTP_TLS; then try `mail test ADDRESS`',
    }
  } finally {
    mailer.close()
  }
}
