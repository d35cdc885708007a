import { type SQL, sql } from 'drizzle-orm'
import { accessTokenRepositories } from '../../db/schema/credentials.ts'
import { organizationMembers, teamMembers, teamRepositories, teams, teamUnits } from '../../db/schema/organizations.ts'
import { collaborations, repositories } from '../../db/schema/repositories.ts'
import { users } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import type { SiteRules } from './decide.ts'
import type { Unit } from './units.ts'

/** What everybody reads where nobody has to sign in, as a condition over `repositories` joined with its owner in `users`. */
export const isPublic = sql`(not ${repositories.isPrivate} and ${users.visibility} = 'public')`

/**
 * `decideRights(...).highest >= read` as a condition over `repositories` joined with its owner in `users`, for lists. Filtering
 * in the statement keeps totals and pages right and tells nothing of hidden rows.
 * @param unit asks for read on this unit instead; whether the repository has it switched on is not looked at
 */
export function visibleTo(site: SiteRules, actor: Actor | undefined, unit?: Unit): SQL {
  if (!actor) return site.requireSigninView ? sql`false` : isPublic
  if (actor.publicOnly) return actor.user.isRestricted ? sql`(${isPublic} and ${personally(actor, unit)})` : isPublic
  const reachable = personally(actor, unit)
  if (!actor.repositoryIds) return reachable
  const chosen = sql`${repositories.id} in (
    select ${accessTokenRepositories.repositoryId} from ${accessTokenRepositories}
    where ${accessTokenRepositories.tokenId} = ${actor.tokenId})`
  return sql`(${reachable} and (${isPublic} or ${chosen}))`
}

function personally({ user }: Actor, unit: Unit | undefined): SQL {
  if (user.isAdmin) return sql`true`
  const memberOf = sql`${repositories.ownerId} in (
    select ${organizationMembers.organizationId} from ${organizationMembers} where ${organizationMembers.userId} = ${user.id})`
  const openly = user.isRestricted ? sql`false` : sql`${users.visibility} <> 'private'`
  return sql`(
    (not ${repositories.isPrivate} and (${openly} or ${memberOf}))
    or ${repositories.ownerId} = ${user.id}
    or ${repositories.id} in (
      select ${collaborations.repositoryId} from ${collaborations} where ${collaborations.userId} = ${user.id})
    or ${repositories.id} in (
      select ${teamRepositories.repositoryId} from ${teamRepositories}
      where ${teamRepositories.teamId} in (${grantingTeams(user.id, unit)}))
    or ${repositories.ownerId} in (
      select ${teams.organizationId} from ${teams}
      where (${teams.includesAllRepositories} or ${teams.permission} = 'owner') and ${teams.id} in (${grantingTeams(user.id, unit)}))
  )`
}

/** The person's teams that give at least read on the unit; without one, on something. */
function grantingTeams(userId: number, unit: Unit | undefined): SQL {
  const ofUnit = unit === undefined ? sql`` : sql`and ${teamUnits.unit} = ${unit}`
  return sql`
    select ${teamMembers.teamId} from ${teamMembers}
    join ${teams} as granting on granting.id = ${teamMembers.teamId}
    where ${teamMembers.userId} = ${userId}
      and (granting.permission <> 'none' or exists (
        select 1 from ${teamUnits} where ${teamUnits.teamId} = ${teamMembers.teamId} and ${teamUnits.permission} <> 'none' ${ofUnit}))`
}
