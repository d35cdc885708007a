import { createTransport } from 'nodemailer'
import type { Config } from '../config.ts'
import { parseMailbox } from '../kernel/email.ts'
import { parseSmtpUrl, type SmtpServer } from '../kernel/smtp-url.ts'
import { errorCode } from '../kernel/thrown.ts'
import type { Mail } from './mail.ts'

/** Hands mails to the mail server of the settings. */
export interface Mailer {
  /** The server without its password, for people. */
  readonly server: string
  /** @throws MailError */
  send(mail: Mail): Promise<void>
  /** Connects, greets and signs in, but sends nothing. @throws MailError */
  check(): Promise<void>
  /** Ends all connections, also those that a mail is on. */
  close(): void
}

/** A mail that was not taken. The message holds no password, whatever the server says. */
export class MailError extends Error {
  /** True when the server refused this very mail for good: another attempt would end as this one (RFC 5321, 4.2.1). */
  readonly isPermanent: boolean

  constructor(message: string, isPermanent: boolean) {
    super(message)
    this.name = 'MailError'
    this.isPermanent = isPermanent
  }
}

/** Connecting, greeting, signing in and handing over may each be slow; all together they may not take longer than this. */
const LONGEST_IN_TIMEOUTS = 4
/** Most servers drop a silent connection after five minutes. */
const IDLE_MS = 60_000

/** Opens no connection yet. Undefined without SMTP_URL. */
export function createMailer(config: Config): Mailer | undefined {
  const server = config.smtpUrl === undefined ? undefined : parseSmtpUrl(config.smtpUrl)
  const from = config.mailFrom === undefined ? undefined : parseMailbox(config.mailFrom)
  if (server === undefined || from === undefined) return undefined
  const domain = from.address.slice(from.address.indexOf('@') + 1)
  const transport = createTransport(transportOptions(config, server, domain))
  const longestMs = config.smtpTimeoutSeconds * LONGEST_IN_TIMEOUTS * 1000
  return {
    server: `${server.isSecure ? 'smtps' : 'smtp'}://${server.host.includes(':') ? `[${server.host}]` : server.host}:${server.port}`,
    async send({ id, date, ...mail }) {
      const message = { ...mail, from, messageId: `<${id}@${domain}>`, date: new Date(date) }
      await explained(transport.sendMail({ ...message, headers, signal: AbortSignal.timeout(longestMs) }))
    },
    async check() {
      await explained(transport.verify())
    },
    close: () => transport.close({ force: true }),
  }
}

/** RFC 3834, section 5: programs do not answer it, such as those that say that somebody is on holiday. */
const headers = { 'Auto-Submitted': 'auto-generated' }

function transportOptions(config: Config, server: SmtpServer, domain: string) {
  const { host, port, isSecure, user, password, isRemote } = server
  const timeoutMs = config.smtpTimeoutSeconds * 1000
  return {
    pool: true as const,
    host,
    port,
    secure: isSecure,
    // The receiver need not know the name of this machine, and is seldom one that resolves.
    name: domain,
    // Whoever stands in between could else take STARTTLS out of the greeting, and read the password.
    requireTLS: !isSecure && (config.smtpTls === 'required' || (user !== '' && isRemote)),
    tls: { rejectUnauthorized: config.smtpTls !== 'unverified', minVersion: 'TLSv1.2' as const },
    ...(user === '' ? {} : { auth: { user, pass: password } }),
    maxConnections: config.smtpMaxConnections,
    idleTimeout: IDLE_MS,
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // A text of a mail is a text, never the name of a file or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

async function explained(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    throw explain(error)
  }
}

/** Codes of the library for a refusal of the sender, the receiver or the text. Anything else is about the connection. */
const OF_THE_MAIL = ['EENVELOPE', 'EMESSAGE']
/** RFC 4954, section 6: the server wants us to sign in, so the settings are wrong. */
const AUTHENTICATION_REQUIRED = 530

function explain(error: unknown): MailError {
  if (!(error instanceof Error)) return new MailError(String(error), false)
  const code = errorCode(error) ?? ''
  const reply = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : 0
  // Some servers repeat what they were given: their words are not for the log.
  if (code === 'EAUTH')
    return new MailError(`the mail server refused the user or the password of SMTP_URL (${reply})`, false)
  const isPermanent = OF_THE_MAIL.includes(code) && reply >= 500 && reply !== AUTHENTICATION_REQUIRED
  return new MailError(`${error.message}${code === '' ? '' : ` (${code})`}`, isPermanent)
}
