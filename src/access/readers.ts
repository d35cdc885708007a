import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { organizationMembers, teamMembers, teamRepositories, teams, teamUnits } from '../../db/schema/organizations.ts'
import { collaborations, repositories } from '../../db/schema/repositories.ts'
import { users } from '../../db/schema/users.ts'
import type { Unit } from './units.ts'

/** Those of whom it is asked whether they may read something: `users` is the owner of the repository. */
export const readers = alias(users, 'reader')

/**
 * `visibleTo` for many people at once: whether the person in `readers`, signed in and without a token, may read the unit, as a
 * condition over `repositories` joined with its owner in `users`. Whether the unit is switched on is not looked at. Of ten thousand
 * readers of a public repository hardly any is looked up.
 */
export function readableBy(unit: Unit): SQL {
  const belongs = sql`exists (
    select 1 from ${organizationMembers}
    where ${organizationMembers.organizationId} = ${repositories.ownerId} and ${organizationMembers.userId} = ${readers.id})`
  const openly = sql`(not ${readers.isRestricted} and ${users.visibility} <> 'private')`
  return sql`(${readers.isAdmin} or ${repositories.ownerId} = ${readers.id}
    or (not ${repositories.isPrivate} and (${openly} or ${belongs}))
    or exists (
      select 1 from ${collaborations}
      where ${collaborations.repositoryId} = ${repositories.id} and ${collaborations.userId} = ${readers.id})
    or exists (
      select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
      where ${teamMembers.userId} = ${readers.id} and ${teams.organizationId} = ${repositories.ownerId}
        and (${teams.permission} <> 'none' or exists (
          select 1 from ${teamUnits} where ${teamUnits.teamId} = ${teams.id}
            and ${teamUnits.unit} = ${sql.raw(`'${unit}'`)} and ${teamUnits.permission} <> 'none'))
        and (${teams.includesAllRepositories} or ${teams.permission} = 'owner' or exists (
          select 1 from ${teamRepositories}
          where ${teamRepositories.teamId} = ${teams.id} and ${teamRepositories.repositoryId} = ${repositories.id}))))`
}
