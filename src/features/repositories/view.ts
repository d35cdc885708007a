import { and, type SQL, sql } from 'drizzle-orm'
import { organizationMembers, teamMembers, teamRepositories } from '../../../db/schema/organizations.ts'
import { collaborations, repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { SiteRules } from '../../access/decide.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'

/** What a person sees, in two parts without a row in common: each is found by indexes, however the site is mixed. */
export interface View {
  /** What everybody who has signed in sees. */
  open: SQL
  /** What this person sees beyond that. */
  beyond: SQL | undefined
}

/** Undefined for readers whose view is one condition already: visitors, administrators, and those who see less than others. */
export function viewOf(site: SiteRules, actor: Actor | undefined): View | undefined {
  if (!actor || actor.user.isAdmin || actor.user.isRestricted || actor.publicOnly || actor.repositoryIds)
    return undefined
  return {
    open: sql`(not ${repositories.isPrivate} and ${users.visibility} <> 'private')`,
    beyond: and(
      sql`${repositories.id} in (${candidates(actor.user.id)})`,
      sql`(${repositories.isPrivate} or ${users.visibility} = 'private')`,
      visibleTo(site, actor),
    ),
  }
}

/** Everything about a reader that a condition of visibility is made of. */
export function readerKey({ requireSigninView }: SiteRules, actor: Actor | undefined): unknown[] {
  if (!actor) return [requireSigninView]
  const { user, publicOnly, repositoryIds, tokenId } = actor
  return [user.id, user.isAdmin, user.isRestricted, publicOnly, repositoryIds && tokenId]
}

/** All that a person may see beyond what everybody sees, and not much more: each part is found by an index. */
function candidates(userId: number): SQL {
  const owners = sql`
    select ${userId}::bigint as id union all
    select ${organizationMembers.organizationId} from ${organizationMembers} where ${organizationMembers.userId} = ${userId}`
  return sql`
    select closed.id from (${owners}) as owner join ${repositories} as closed
      on closed.owner_id = owner.id and closed.is_private
    union select inner_one.id from (${owners}) as owner join ${users} as hidden
      on hidden.id = owner.id and hidden.visibility = 'private'
      join ${repositories} as inner_one on inner_one.owner_id = hidden.id
    union select ${collaborations.repositoryId} from ${collaborations} where ${collaborations.userId} = ${userId}
    union select ${teamRepositories.repositoryId} from ${teamRepositories}
      join ${teamMembers} on ${teamMembers.teamId} = ${teamRepositories.teamId} where ${teamMembers.userId} = ${userId}`
}
