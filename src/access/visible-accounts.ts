import { type SQL, sql } from 'drizzle-orm'
import { organizationMembers } from '../../db/schema/organizations.ts'
import { users } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import type { SiteRules } from './decide.ts'

/** `maySeeOwner` as a condition over `users`, for lists of people and organizations. */
export function visibleAccounts(site: SiteRules, actor: Actor | undefined): SQL {
  const isPublic = sql`${users.visibility} = 'public'`
  if (!actor) return site.requireSigninView ? sql`false` : isPublic
  if (actor.publicOnly) return isPublic
  if (actor.user.isAdmin) return sql`true`
  const openly = actor.user.isRestricted ? isPublic : sql`${users.visibility} <> 'private'`
  return sql`(${openly} or ${users.id} = ${actor.user.id} or ${users.id} in (
    select ${organizationMembers.organizationId} from ${organizationMembers} where ${organizationMembers.userId} = ${actor.user.id}))`
}
