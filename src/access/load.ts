import { eq, type SQL, sql } from 'drizzle-orm'
import { type Db, prepared } from '../../db/client.ts'
import { rowVersion } from '../../db/row-version.ts'
import {
  organizationMembers,
  type PermissionWord,
  teamMembers,
  teams,
  teamUnits,
} from '../../db/schema/organizations.ts'
import {
  collaborations,
  type RepositoryCountersRow,
  type RepositoryRow,
  repositories,
  repositoryCounters,
  repositoryRedirects,
} from '../../db/schema/repositories.ts'
import { repositoryTransfers } from '../../db/schema/repository-transfers.ts'
import { type UserRow, userRedirects, users } from '../../db/schema/users.ts'
import { noRelation, type Relation, type TeamGrant } from './decide.ts'
import { isOfferedTo, teamReach } from './reach.ts'

export interface LoadedRepository {
  repository: RepositoryRow
  owner: UserRow
  relation: Relation
  /** Changes with every change of the repository's or the owner's row: what an ETag is made of. */
  version: string
  counters: RepositoryCountersRow
  /** Offered to another owner, who has not answered yet. */
  isOffered: boolean
}

/** Found by a path, which may be an old one. */
export interface FoundByPath extends LoadedRepository {
  /** The repository or its owner has another name now, or the repository another owner. */
  isMoved: boolean
  /** The path names the owner by an old name. */
  isOwnersOldName: boolean
}

interface Path {
  owner: string
  name: string
}

const reader = sql.placeholder('readerId')
const ownerName = sql.placeholder('owner')
const repositoryName = sql.placeholder('name')

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
    and exists (
      select 1 from ${teamReach} as reached
      where reached.team_id = ${teams.id} and reached.repository_id = ${repositories.id})) end`

const columns = {
  repository: repositories,
  owner: users,
  version: sql<string>`${rowVersion(repositories)} || '.' || ${rowVersion(users)}`,
  counters: repositoryCounters,
  collaboration,
  isMember,
  teams: teamGrants,
  isOffered: sql<boolean>`exists (
    select 1 from ${repositoryTransfers} where ${repositoryTransfers.repositoryId} = ${repositories.id})`,
  isRecipient: isOfferedTo(reader, sql`${repositories.id}`),
}

const isOwnersOldName = sql<boolean>`exists (
  select 1 from ${userRedirects}
  where ${userRedirects.lowerName} = ${ownerName} and ${userRedirects.userId} = ${repositories.ownerId})`

/** A name that is in use goes before the same name given up by a rename; so it is for owners and for repositories. */
const idByPath: SQL = sql`(
  select coalesce(
    (select named.id from ${repositories} as named
     where named.owner_id = owning.id and named.lower_name = ${repositoryName}),
    (select ${repositoryRedirects.repositoryId} from ${repositoryRedirects}
     where ${repositoryRedirects.ownerId} = owning.id and ${repositoryRedirects.lowerName} = ${repositoryName}))
  from (select coalesce(
    (select named.id from ${users} as named where named.lower_name = ${ownerName}),
    (select ${userRedirects.userId} from ${userRedirects} where ${userRedirects.lowerName} = ${ownerName})) as id) as owning)`

const byPath = prepared((db) =>
  db
    .select({ ...columns, isOwnersOldName })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .innerJoin(repositoryCounters, eq(repositoryCounters.repositoryId, repositories.id))
    .where(eq(repositories.id, idByPath))
    .prepare('repository_by_path'),
)

const byId = prepared((db) =>
  db
    .select(columns)
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .innerJoin(repositoryCounters, eq(repositoryCounters.repositoryId, repositories.id))
    .where(eq(repositories.id, sql.placeholder('id')))
    .prepare('repository_by_id'),
)

/**
 * Reads a repository by its path, or by one that it had before, together with all that decides the reader's rights on it. One statement,
 * the same for what exists, what is hidden and what is unknown: time must not tell them apart.
 */
export async function findRepository(
  db: Db,
  path: Path,
  readerId: number | undefined,
): Promise<FoundByPath | undefined> {
  const names = { owner: path.owner.toLowerCase(), name: path.name.toLowerCase() }
  const [row] = await byPath(db).execute({ ...names, readerId: readerId ?? 0 })
  if (!row) return undefined
  const isMoved = row.owner.lowerName !== names.owner || row.repository.lowerName !== names.name
  return { ...loaded(row, readerId), isMoved, isOwnersOldName: row.isOwnersOldName }
}

/** The same by the repository's id. */
export async function findRepositoryById(
  db: Db,
  id: number,
  readerId: number | undefined,
): Promise<LoadedRepository | undefined> {
  const [row] = await byId(db).execute({ id, readerId: readerId ?? 0 })
  return row && loaded(row, readerId)
}

interface Row extends Omit<LoadedRepository, 'relation'>, Omit<Relation, 'teams'> {
  teams: TeamGrant[] | null
}

function loaded(row: Row, readerId: number | undefined): LoadedRepository {
  const { collaboration, isMember, teams, isRecipient, ...rows } = row
  const relation = readerId === undefined ? noRelation : { collaboration, isMember, teams: teams ?? [], isRecipient }
  return { ...rows, relation }
}
