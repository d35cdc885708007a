import type { Db } from '../../db/client.ts'
import type { Context } from '../context.ts'
import { enqueueJob } from '../jobs/enqueue.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import type { Letter } from './letter.ts'
import { composeMail, openMail, sealMail } from './mail.ts'
import { MailError } from './mailer.ts'

/**
 * Mails a letter once the transaction has committed; without SMTP_URL it is dropped, and the log says so. It is tried again for about
 * four days, as RFC 5321, 4.5.4.1, wants.
 */
export async function mailLetter(context: Context, tx: Db, letter: Letter): Promise<void> {
  const { mailer, secrets, clock, log, baseUrl, config } = context
  if (mailer === undefined) {
    log.info({ subject: letter.subject }, 'not mailed: SMTP_URL is not set')
    return
  }
  const mail = composeMail(letter, { baseUrl, now: clock.now() })
  const queue = laneOf(letter.to.address, config.smtpMaxConnections)
  await enqueueJob(tx, 'mail.send', { sealed: sealMail(secrets, mail) }, { queue })
}

/** One mail at a time in each lane, over all replicas: a slow mail server holds up mails only. What one person gets keeps its order. */
function laneOf(address: string, lanes: number): string {
  const sum = Array.from(address.toLowerCase()).reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return `mail:${sum % lanes}`
}

export const mailHandlers: Pick<JobHandlers, 'mail.send'> = {
  // The signal of a stop is not heeded: a mail takes moments, and one that is cut off may arrive twice.
  async 'mail.send'({ mailer, secrets, log }, { sealed }) {
    // It was set when the mail was written: the attempts last until it is set again.
    if (mailer === undefined) throw new Error('SMTP_URL is not set any more')
    const mail = openMail(secrets, sealed)
    try {
      await mailer.send(mail)
    } catch (error) {
      if (!(error instanceof MailError) || !error.isPermanent) throw error
      const { to, subject } = mail
      log.error({ to: to.address, subject, reason: error.message }, 'a mail was refused for good')
    }
  },
}
