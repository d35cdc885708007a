import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { users } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import type { SiteRules } from './decide.ts'

/** The table of accounts, or another name for it in the same statement. */
type Accounts = Record<'id' | 'visibility', SQLWrapper>

/**
 * The ids of the accounts that a person is close to: the organizations that they belong to, and the people with whom they share a
 * team.
 */
const relatedTo = (userId: SQL): SQL => sql`
  select organization_id from organization_members where user_id = ${userId}
  union all
  select colleague.user_id from team_members as own join team_members as colleague on colleague.team_id = own.team_id
  where own.user_id = ${userId}`

/** Whether the account in `users` is close to a person: what `maySeeOwner` asks. */
export const isRelatedTo = (userId: SQL): SQL => sql`${users.id} in (${relatedTo(userId)})`

/** `maySeeOwner` as a condition over `users`, for lists of people and organizations. */
export function visibleAccounts(site: SiteRules, actor: Actor | undefined, accounts: Accounts = users): SQL {
  const isPublic = sql`${accounts.visibility} = 'public'`
  if (!actor) return site.requireSigninView ? sql`false` : isPublic
  if (actor.publicOnly) return isPublic
  if (actor.user.isAdmin) return sql`true`
  const openly = actor.user.isRestricted ? isPublic : sql`${accounts.visibility} <> 'private'`
  return sql`(${openly} or ${closeTo(actor, accounts)})`
}

/** `visibleAccounts` for a search: a restricted account finds only itself and whom it is close to. */
export function findableAccounts(site: SiteRules, actor: Actor | undefined): SQL {
  const visible = visibleAccounts(site, actor)
  return actor?.user.isRestricted && !actor.user.isAdmin ? sql`(${visible} and ${closeTo(actor, users)})` : visible
}

const closeTo = ({ user }: Actor, accounts: Accounts): SQL =>
  sql`(${accounts.id} = ${user.id} or ${accounts.id} in (${relatedTo(sql`${user.id}`)}))`
