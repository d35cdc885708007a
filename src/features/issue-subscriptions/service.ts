import type { IssueRow } from '../../../db/schema/issues.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { findAccount } from '../../access/load-account.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { forbidden, notFound } from '../../kernel/errors.ts'
import { isSubscribed, putSubscription } from './store.ts'

interface Wish {
  issue: IssueRow
  /** Who is to be notified, or not. */
  name: string
  isSubscribed: boolean
}

/**
 * Lets somebody be notified of an issue, or not: oneself, or anybody for administrators of the site.
 * @returns whether that changed anything
 * @throws Refusal 403 for somebody else, 404 for an unknown person
 */
export async function setSubscription(context: Context, actor: Actor, wish: Wish): Promise<boolean> {
  const { db, clock } = context
  const { issue } = wish
  const user = await getPerson(context, actor, wish.name)
  if (user.id !== actor.user.id && !actor.user.isAdmin)
    throw forbidden(`${actor.user.name} is not permitted to change subscriptions for ${user.name}`)
  const subscription = { issueId: issue.id, userId: user.id }
  if ((await isSubscribed(db, subscription)) === wish.isSubscribed) return false
  await putSubscription(db, subscription, { isSubscribed: wish.isSubscribed, at: clock.now() })
  return true
}

async function getPerson(context: Context, actor: Actor, name: string): Promise<UserRow> {
  const found = await findAccount(context.db, name, actor.user.id)
  if (found?.row.kind !== 'user' || !maySeeOwner(context.config, actor, found.row, found.isRelated)) throw notFound()
  return found.row
}
