import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Secrets } from '../auth/secrets.ts'
import { randomHex } from '../kernel/hashing.ts'
import { html, type Letter, oneLine, plainText } from './letter.ts'

/** A finished mail. The sender is the one of the settings when it is sent. */
export type Mail = Static<typeof Mail>
const Mail = Type.Object({
  to: Type.Object({ name: Type.String(), address: Type.String() }),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
  /** Made once: a mail that has to be sent twice is known by it as the same. Without the domain, which is the sender's. */
  id: Type.String(),
  /** RFC 3339. */
  date: Type.String(),
})

export function composeMail(letter: Letter, { baseUrl, now }: { baseUrl: string; now: Date }): Mail {
  return {
    to: { name: oneLine(letter.to.name ?? ''), address: oneLine(letter.to.address) },
    subject: oneLine(letter.subject),
    text: plainText(letter, baseUrl),
    html: html(letter, baseUrl),
    id: randomHex(16),
    date: now.toISOString(),
  }
}

const PURPOSE = 'mail'

/** For the queue: whoever has a link of a mail may act with it, so a copy of the database must not hold it. */
export const sealMail = (secrets: Secrets, mail: Mail): string =>
  Buffer.from(secrets.seal(PURPOSE, JSON.stringify(mail))).toString('base64')

/** @throws Error when it was sealed with another key */
export function openMail(secrets: Secrets, sealed: string): Mail {
  const mail: unknown = JSON.parse(secrets.open(PURPOSE, Buffer.from(sealed, 'base64')))
  if (!Value.Check(Mail, mail)) throw new Error('the sealed text is no mail')
  return mail
}
