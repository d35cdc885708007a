import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { prepared } from '../../db/prepared.ts'
import {
  organizationMembers,
  type PermissionWord,
  teamMembers,
  teamRepositories,
  teams,
  teamUnits,
} from '../../db/schema/organizations.ts'
import { collaborations, type RepositoryRow, repositories } from '../../db/schema/repositories.ts'
import { type UserRow, users } from '../../db/schema/users.ts'
import { noRelation, type Relation, type TeamGrant } from './decide.ts'
import { type FoundRepository, foundColumns, readPair } from './kept.ts'

const reader = sql.placeholder('readerId')

/** The owner has every right already, and only organizations have members and teams: what cannot matter is not looked up. */
const collaboration = sql<PermissionWord | null>`case when ${repositories.ownerId} <> ${reader} then (
  select ${collaborations.permission} from ${collaborations}
  where ${collaborations.repositoryId} = ${repositories.id} and ${collaborations.userId} = ${reader}) end`

const isMember = sql<boolean>`(${users.kind} = 'organization' and exists (
  select 1 from ${organizationMembers}
  where ${organizationMembers.organizationId} = ${repositories.ownerId} and ${organizationMembers.userId} = ${reader}))`

/** The person's teams that reach this repository, each with its units. */
const teamGrants = sql<TeamGrant[] | null>`case when ${users.kind} = 'organization' then (
  select json_agg(json_build_object('permission', ${teams.permission}, 'units', coalesce(
    (select json_object_agg(${teamUnits.unit}, ${teamUnits.permission}) from ${teamUnits}
     where ${teamUnits.teamId} = ${teams.id}), '{}')))
  from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teamMembers.userId} = ${reader} and ${teamMembers.organizationId} = ${repositories.ownerId}
    and (${teams.includesAllRepositories} or ${teams.permission} = 'owner' or exists (
      select 1 from ${teamRepositories}
      where ${teamRepositories.teamId} = ${teams.id} and ${teamRepositories.repositoryId} = ${repositories.id}))) end`

const known = prepared((db) =>
  db
    .select({ ...foundColumns, collaboration, isMember, teams: teamGrants })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(eq(users.lowerName, sql.placeholder('owner')), eq(repositories.lowerName, sql.placeholder('name'))))
    .prepare('repository_with_relation'),
)

const knownById = prepared((db) =>
  db
    .select({ ...foundColumns, collaboration, isMember, teams: teamGrants })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(eq(repositories.id, sql.placeholder('id')))
    .prepare('repository_by_id_with_relation'),
)

const anonymous = prepared((db) =>
  db
    .select(foundColumns)
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(eq(users.lowerName, sql.placeholder('owner')), eq(repositories.lowerName, sql.placeholder('name'))))
    .prepare('repository_alone'),
)

export interface LoadedRepository {
  repository: RepositoryRow
  owner: UserRow
  relation: Relation
  /** Changes with every change of either row: what an ETag is made of. */
  version: string
}

/** Who asks. */
export type Reader = Pick<UserRow, 'id' | 'lowerName'>

/** Reads a repository by its path together with all that decides the reader's rights on it, in one statement. */
export async function findRepository(
  db: Db,
  path: { owner: string; name: string },
  reader: Reader | undefined,
): Promise<LoadedRepository | undefined> {
  const names = { owner: path.owner.toLowerCase(), name: path.name.toLowerCase() }
  // An owner has every right already: as for a visitor there is no relation to look for.
  if (reader === undefined || reader.lowerName === names.owner) {
    const [found] = await anonymous(db).execute(names)
    if (reader === undefined || found?.ownerId === reader.id) return found && load(db, found, noRelation)
  }
  const [found] = await known(db).execute({ ...names, readerId: reader.id })
  return found && load(db, found, relationIn(found))
}

/** The same by the repository's id. */
export async function findRepositoryById(
  db: Db,
  id: number,
  readerId: number | undefined,
): Promise<LoadedRepository | undefined> {
  const [found] = await knownById(db).execute({ id, readerId: readerId ?? 0 })
  return found && load(db, found, relationIn(found))
}

const relationIn = (found: Omit<Relation, 'teams'> & { teams: TeamGrant[] | null }): Relation => ({
  collaboration: found.collaboration,
  isMember: found.isMember,
  teams: found.teams ?? [],
})

async function load(db: Db, found: FoundRepository, relation: Relation): Promise<LoadedRepository | undefined> {
  const pair = await readPair(db, found)
  if (!pair) return undefined
  const { repository, owner } = pair
  return { repository: repository.row, owner: owner.row, relation, version: `${repository.version}.${owner.version}` }
}
