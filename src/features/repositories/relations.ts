import { eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { type Db, prepared } from '../../../db/client.ts'
import {
  organizationMembers,
  type PermissionWord,
  teamMembers,
  teams,
  teamUnits,
} from '../../../db/schema/organizations.ts'
import { collaborations, type RepositoryRow } from '../../../db/schema/repositories.ts'
import { repositoryTransfers } from '../../../db/schema/repository-transfers.ts'
import { users } from '../../../db/schema/users.ts'
import { noRelation, type Relation, type TeamGrant } from '../../access/decide.ts'
import { isOfferedTo, teamReach } from '../../access/reach.ts'
import type { Actor } from '../../auth/actor.ts'

interface TeamOf extends TeamGrant {
  organization: number
  /** Those of the asked repositories that it reaches. */
  repositories: number[] | null
}

const self = alias(users, 'self')
const reader = sql.placeholder('readerId')
const ids = sql`any(${sql.placeholder('ids')}::bigint[])`
const ownerIds = sql`any(${sql.placeholder('ownerIds')}::bigint[])`

/** Everything between one reader and a page of repositories, in one statement whose size does not depend on the page. */
const known = prepared((db) =>
  db
    .select({
      collaborations: sql<Record<string, PermissionWord> | null>`(
        select json_object_agg(${collaborations.repositoryId}, ${collaborations.permission}) from ${collaborations}
        where ${collaborations.userId} = ${reader} and ${collaborations.repositoryId} = ${ids})`,
      organizations: sql<number[] | null>`(
        select json_agg(${organizationMembers.organizationId}) from ${organizationMembers}
        where ${organizationMembers.userId} = ${reader} and ${organizationMembers.organizationId} = ${ownerIds})`,
      teams: sql<TeamOf[] | null>`(
        select json_agg(json_build_object(
          'organization', ${teams.organizationId},
          'permission', ${teams.permission},
          'units', coalesce((
            select json_object_agg(${teamUnits.unit}, ${teamUnits.permission}) from ${teamUnits}
            where ${teamUnits.teamId} = ${teams.id}), '{}'),
          'repositories', (
            select json_agg(reached.repository_id) from ${teamReach} as reached
            where reached.team_id = ${teams.id} and reached.repository_id = ${ids})))
        from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
        where ${teamMembers.userId} = ${reader} and ${teamMembers.organizationId} = ${ownerIds})`,
      offers: sql<number[] | null>`(
        select json_agg(${repositoryTransfers.repositoryId}) from ${repositoryTransfers}
        where ${repositoryTransfers.repositoryId} = ${ids} and ${isOfferedTo(reader, repositoryTransfers.repositoryId)})`,
    })
    .from(users)
    // Only in a join are columns written with their tables' names, which the parts above need.
    .innerJoin(self, eq(self.id, users.id))
    .where(sql`${users.id} = ${reader}`)
    .prepare('relations_to_repositories'),
)

type Subject = Pick<RepositoryRow, 'id' | 'ownerId'>

/** What links a reader to each of the repositories. Nothing is asked for visitors and administrators, whose rights it does not change. */
export async function loadRelations(
  db: Db,
  actor: Actor | undefined,
  subjects: readonly Subject[],
): Promise<(subject: Subject) => Relation> {
  if (!actor || actor.user.isAdmin || subjects.length === 0) return () => noRelation
  const distinct = (values: number[]) => `{${[...new Set(values)].join(',')}}`
  const [found] = await known(db).execute({
    readerId: actor.user.id,
    ids: distinct(subjects.map(({ id }) => id)),
    ownerIds: distinct(subjects.map(({ ownerId }) => ownerId)),
  })
  if (!found) return () => noRelation
  const memberOf = new Set(found.organizations)
  const grants = found.teams ?? []
  const offers = new Set(found.offers)
  return ({ id, ownerId }) => ({
    collaboration: found.collaborations?.[id] ?? null,
    isMember: memberOf.has(ownerId),
    teams: grants.filter((team) => team.organization === ownerId && team.repositories?.includes(id)),
    isRecipient: offers.has(id),
  })
}
