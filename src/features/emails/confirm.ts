import type { Db } from '../../../db/client.ts'
import type { EmailRow, UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { spend } from '../../http/rate-limit.ts'
import { sha256Hex } from '../../kernel/hashing.ts'
import { hashOfLinkCode, hoursInWords, makeLinkCode } from '../../mail/link-code.ts'
import { mailLetter } from '../../mail/send.ts'
import {
  activateEmail,
  findWaitingEmail,
  lockEmail,
  removeConfirmation,
  upsertConfirmations,
  type WaitingEmail,
} from './confirmations.ts'

/** Path of the page that a link leads to. Wire: Gitea's. */
export const CONFIRMATION_PATH = '/user/activate_email'

/** Nobody is to be flooded by us: so many mails in an hour at the wish of one account, and to one address. */
const BY_ACCOUNT = { requests: 20, seconds: 3600 }
const TO_ADDRESS = { requests: 3, seconds: 3600 }

/** Counts mails before they are written at the wish of an account. @throws Refusal 429 when there were too many */
export async function countMails(context: Context, user: UserRow, addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    await spend(context, `mail-by:${user.id}`, BY_ACCOUNT)
    await countMailTo(context, address)
  }
}

/** The same where nobody is signed in. @throws Refusal 429 when there were too many */
export const countMailTo = (context: Context, address: string): Promise<void> =>
  spend(context, `mail-to:${sha256Hex(address.toLowerCase())}`, TO_ADDRESS)

/** Mails a new link to each of these addresses. */
export async function mailConfirmations(
  context: Context,
  tx: Db,
  { user, added }: { user: UserRow; added: readonly EmailRow[] },
): Promise<void> {
  const { clock, config, baseUrl } = context
  const hours = config.emailConfirmationHours
  const links = added.map(({ id, email }) => ({ emailId: id, email, ...makeLinkCode(clock.now(), hours) }))
  await upsertConfirmations(
    tx,
    links.map(({ emailId, codeHash, expiresAt }) => ({ emailId, codeHash, expiresAt })),
  )
  for (const { email, code } of links)
    await mailLetter(context, tx, {
      // Nothing that the account may choose freely, its full name least of all: it may not be its owner who reads this.
      to: { address: email },
      subject: 'Confirm your e-mail address',
      paragraphs: [
        `The account ${user.name} at ${baseUrl} wants to use this address. To confirm that it is yours, open this page and press its button:`,
        { link: `${baseUrl}${CONFIRMATION_PATH}?code=${code}` },
        `The link works once, and for ${hoursInWords(hours)}.`,
        'If that account is not yours, do nothing: without you the address will not belong to it.',
      ],
    })
}

/** The address that a link is for; undefined when the link is none, was used, is too old, or somebody else is signed in. */
export async function findConfirmation(
  { db, clock }: Context,
  code: string | undefined,
  actor: Actor | undefined,
): Promise<WaitingEmail | undefined> {
  const codeHash = hashOfLinkCode(code)
  if (codeHash === undefined) return undefined
  const found = await findWaitingEmail(db, codeHash, clock.now())
  return actor !== undefined && actor.user.id !== found?.owner.id ? undefined : found
}

export type Confirmed = { outcome: 'confirmed' | 'in use'; waiting: WaitingEmail } | { outcome: 'no link' }

/** Makes the address a verified one of the account that the link was made for, once. */
export async function confirmEmail(
  context: Context,
  code: string | undefined,
  actor: Actor | undefined,
): Promise<Confirmed> {
  const waiting = await findConfirmation(context, code, actor)
  if (waiting === undefined || code === undefined) return { outcome: 'no link' }
  const { email, owner } = waiting
  try {
    const isDone = await context.db.transaction(async (tx) => {
      await lockEmail(tx, email.id)
      if (!(await removeConfirmation(tx, sha256Hex(code))) || !(await activateEmail(tx, email.id))) return false
      const subject = { kind: 'user', id: owner.id, name: owner.name }
      const after = { verifiedEmail: email.email }
      await recordAudit(tx, actor ?? 'system', { action: 'user.email_verify', subject, after })
      return true
    })
    return isDone ? { outcome: 'confirmed', waiting } : { outcome: 'no link' }
  } catch (error) {
    if (violatedConstraint(error) !== 'emails_lower_email_key') throw error
    return { outcome: 'in use', waiting }
  }
}
