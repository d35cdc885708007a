import { and, eq, ne, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { activities } from '../../../db/schema/activity.ts'
import { users } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'

/** Who did it, joined to a record only if something of that person may be withheld from the reader. */
export const withheld = alias(users, 'withheld')

/**
 * The join of `withheld` to `activities`: whoever hides their activity, or may not be known to the reader (`maySeeOwner`). Nobody
 * is withheld from themselves or from administrators. The index `users_withheld_idx` holds these people alone.
 */
export function withheldFrom(actor: Actor | undefined): SQL | undefined {
  const sameOne = eq(withheld.id, activities.actorId)
  if (actor?.user.isAdmin && !actor.publicOnly) return and(sameOne, sql`false`)
  const isUnknown =
    actor && !actor.publicOnly && !actor.user.isRestricted
      ? sql`${withheld.visibility} = 'private'`
      : sql`${withheld.visibility} <> 'public'`
  const isOther = actor && !actor.publicOnly ? ne(withheld.id, actor.user.id) : undefined
  return and(sameOne, isOther, or(sql`${withheld.hideActivity}`, isUnknown))
}

/** As conditions over `withheld`: who is shown everywhere, and who besides to those who share a closed repository with them. */
export const isShownOpenly = sql`${withheld.id} is null`
export const isShownAmongColleagues = sql`(${withheld.id} is null or not ${withheld.hideActivity})`
