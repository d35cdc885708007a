import { and, eq, ne, not, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { activities } from '../../../db/schema/activity.ts'
import { users } from '../../../db/schema/users.ts'
import type { SiteRules } from '../../access/decide.ts'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'

/** Who did it, joined to a record only if something of that person may be hidden from the reader. */
export const hidden = alias(users, 'hidden')

/**
 * The join of `hidden` to `activities`: whoever hides their activity, or may not be known to the reader. Nobody is hidden from
 * themselves or from administrators. The index `users_hidden_idx` holds the people of the first condition alone.
 */
export function hiddenFrom(site: SiteRules, actor: Actor | undefined): SQL | undefined {
  const sameOne = eq(hidden.id, activities.actorId)
  if (actor?.user.isAdmin && !actor.publicOnly) return and(sameOne, sql`false`)
  const isOther = actor && !actor.publicOnly ? ne(hidden.id, actor.user.id) : undefined
  const mayBeHidden = sql`(${hidden.hideActivity} or ${hidden.visibility} <> 'public')`
  return and(sameOne, isOther, mayBeHidden, or(hidden.hideActivity, not(visibleAccounts(site, actor, hidden))))
}

/** As conditions over `hidden`: who is shown everywhere, and who besides to those who share a closed repository with them. */
export const isShownOpenly = sql`${hidden.id} is null`
export const isShownAmongColleagues = sql`(${hidden.id} is null or not ${hidden.hideActivity})`
