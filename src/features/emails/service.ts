import type { EmailRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { isServiceAddress } from '../../access/service-addresses.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { isEmailAddress } from '../../kernel/email.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { lockAccount } from '../users/lock.ts'
import { countMails, mailConfirmations } from './confirm.ts'
import { insertEmails, listEmails, removeEmails } from './store.ts'

/** More than anybody needs; a list without an end is an attack. */
const MAX_EMAILS = 50

/**
 * Adds addresses to the caller, all or none. With CONFIRM_EMAILS they wait for the link that is mailed to each, and are taken whoever
 * uses them already: only who reads the mail learns of that.
 * @returns all addresses that the caller has then
 * @throws Refusal 422 for none, for one that is no address or one of the service, and for one that is in use; 429 for too many mails
 */
export async function addEmails(context: Context, actor: Actor, given: readonly string[]): Promise<EmailRow[]> {
  const { db, config } = context
  const addresses = [...new Map(given.map((email) => [email.trim().toLowerCase(), email.trim()])).values()]
  if (addresses.length === 0) throw invalid('Email list empty', 'emails')
  const bad = addresses.find((email) => !isEmailAddress(email))
  if (bad !== undefined) throw invalid(`Email address invalid: ${bad}`, 'emails')
  const served = addresses.find((email) => isServiceAddress(email, config))
  if (served !== undefined) throw invalid(`Email address belongs to the service: ${served}`, 'emails')
  if (config.confirmEmails) await countMails(context, actor.user, addresses)
  try {
    return await db.transaction(async (tx) => {
      await lockAccount(tx, actor.user.id)
      const added = await insertEmails(tx, actor.user.id, { addresses, isActivated: !config.confirmEmails })
      if (added.length < addresses.length) throw addressInUse()
      const all = await listEmails(tx, actor.user.id)
      if (all.length > MAX_EMAILS) throw invalid(`at most ${MAX_EMAILS} addresses`, 'emails')
      await recordAudit(tx, actor, {
        action: 'user.email_add',
        subject: subjectOf(actor),
        after: { emails: addresses },
      })
      if (config.confirmEmails) await mailConfirmations(context, tx, { user: actor.user, added })
      return all
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'emails_lower_email_key') throw error
    throw addressInUse()
  }
}

const addressInUse = () => invalid('Email address has already been used', 'emails')

/** @throws Refusal 404 when one of them is not the caller's, 422 for the primary address */
export async function deleteEmails({ db }: Context, actor: Actor, addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return
  await db.transaction(async (tx) => {
    await lockAccount(tx, actor.user.id)
    const gone = await removeEmails(tx, actor.user.id, addresses)
    if (gone.length < new Set(addresses.map((email) => email.toLowerCase())).size)
      throw notFound('email address does not exist')
    if (gone.some((row) => row.isPrimary)) throw invalid('the primary address cannot be removed', 'emails')
    const before = { emails: gone.map((row) => row.email) }
    await recordAudit(tx, actor, { action: 'user.email_delete', subject: subjectOf(actor), before })
  })
}

const subjectOf = ({ user }: Actor) => ({ kind: 'user', id: user.id, name: user.name })
