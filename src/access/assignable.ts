import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { teamMembers, teamRepositories, teams, teamUnits } from '../../db/schema/organizations.ts'
import { collaborations } from '../../db/schema/repositories.ts'
import { type UserRow, users } from '../../db/schema/users.ts'

/**
 * Of the named people those who may be asked to work on a repository: who has write on some unit of it.
 * @param names in any letter case
 */
export function findAssignable(
  db: Db,
  repository: { id: number; ownerId: number },
  names: readonly string[],
): Promise<UserRow[]> {
  if (names.length === 0) return Promise.resolve([])
  const lowerNames = [...new Set(names.map((name) => name.toLowerCase()))]
  return db
    .select()
    .from(users)
    .where(
      and(
        inArray(users.lowerName, lowerNames),
        eq(users.kind, 'user'),
        or(eq(users.isAdmin, true), eq(users.id, repository.ownerId), collaborates(repository.id), inTeam(repository)),
      ),
    )
    .orderBy(users.id)
}

/** Everybody who may be asked, by name; site administrators only where they belong to it. */
export function listAssignable(db: Db, repository: { id: number; ownerId: number }): Promise<UserRow[]> {
  const reached = or(eq(users.id, repository.ownerId), collaborates(repository.id), inTeam(repository))
  return db
    .select()
    .from(users)
    .where(and(eq(users.kind, 'user'), reached))
    .orderBy(users.lowerName)
}

const collaborates = (repositoryId: number): SQL => sql`exists (
  select 1 from ${collaborations} where ${collaborations.repositoryId} = ${repositoryId}
    and ${collaborations.userId} = ${users.id} and ${collaborations.permission} in ('write', 'admin'))`

const inTeam = ({ id, ownerId }: { id: number; ownerId: number }): SQL => sql`exists (
  select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teamMembers.userId} = ${users.id} and ${teamMembers.organizationId} = ${ownerId}
    and (${teams.permission} = 'owner' or (
      (${teams.includesAllRepositories} or exists (
        select 1 from ${teamRepositories}
        where ${teamRepositories.teamId} = ${teams.id} and ${teamRepositories.repositoryId} = ${id}))
      and (${teams.permission} in ('write', 'admin') or exists (
        select 1 from ${teamUnits} where ${teamUnits.teamId} = ${teams.id}
          and ${teamUnits.permission} in ('write', 'admin', 'owner'))))))`
