import type { EmailRow, UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { mailLetter } from '../../mail/send.ts'
import { editUser } from '../users/edit.ts'
import { primaryAddressChanged } from '../users/letters.ts'
import { lockAccount } from '../users/lock.ts'
import { countMails } from './confirm.ts'
import { findOwnEmail, listEmails, markPrimary } from './store.ts'

/**
 * Makes a verified address of the caller the primary one, and notifies the former one by mail. An address that is primary already
 * stays so, and nobody is notified.
 * @returns all addresses that the caller has then
 * @throws Refusal 404 when it is not the caller's, 422 while it waits to be confirmed, 429 for too many mails
 */
export async function setPrimaryEmail(context: Context, actor: Actor, address: string): Promise<EmailRow[]> {
  const { db, baseUrl } = context
  const wanted = usable(await findOwnEmail(db, actor.user.id, address))
  if (!wanted.isPrimary) await countNotice(context, actor.user)
  return db.transaction(async (tx) => {
    // What was read before the lock may be different by now: the address removed, or another one the primary.
    const user = await lockAccount(tx, actor.user.id)
    if (user === undefined) throw noSuchEmail()
    const chosen = usable(await findOwnEmail(tx, user.id, address))
    if (!chosen.isPrimary) {
      await markPrimary(tx, chosen)
      await editUser(tx, user, { email: chosen.email }, actor)
      await mailLetter(context, tx, primaryAddressChanged({ user, by: actor, baseUrl }, chosen.email))
    }
    return listEmails(tx, user.id)
  })
}

/** Where addresses need no confirmation the old one may be anybody's, and is not to be flooded by going to and fro. */
async function countNotice(context: Context, user: UserRow): Promise<void> {
  if (context.mailer !== undefined) await countMails(context, user, [user.email])
}

function usable(email: EmailRow | undefined): EmailRow {
  if (email === undefined) throw noSuchEmail()
  if (!email.isActivated) throw invalid('the address is not confirmed yet', 'email')
  return email
}

const noSuchEmail = () => notFound('email address does not exist')
