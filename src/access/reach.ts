import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Unit } from './units.ts'

/*
 * The rule of who may do what with a repository, in SQL, written once. Conditions, totals and lists of people are all made from the parts
 * below, and a property test holds them against `decideRights`. The power of site administrators is not in it.
 */

/** How a right comes to a team. A unit that is null stands for all units. */
const grants = [
  { join: '', unit: 'null::text', permission: 'team.permission' },
  {
    join: 'join team_units as granted on granted.team_id = team.id',
    unit: 'granted.unit',
    permission: 'granted.permission',
  },
] as const

/** A team that has every repository of its organization. */
const hasAll = "(team.includes_all_repositories or team.permission = 'owner')"

/** A team whose members may make repositories, and take one that is offered to their organization. */
const mayCreate = "(team.permission = 'owner' or team.can_create_org_repo)"

const teamMembersWith = (subject: string, join: string, condition: string): string =>
  grants
    .map(
      (grant) => `
  select ${subject}, member.user_id, 'team' as way, ${grant.unit} as unit, ${grant.permission} as permission
  from team_members as member join teams as team on team.id = member.team_id ${join} ${grant.join}
  where ${grant.permission} <> 'none' and ${condition}`,
    )
    .join(' union all ')

/**
 * Who was given a repository: (repository_id, user_id, way, unit, permission), one row for each way. PostgreSQL takes a condition on a
 * person or on a repository into each part, so that all are found by indexes from either side.
 */
const byRepository: SQL = sql.raw(`(
  select repository_id, user_id, 'collaborator' as way, null::text as unit, permission from collaborations
  union all select repository_id, recipient_id, 'offer' as way, null::text as unit, 'read' as permission from repository_transfers
  union all select offered.repository_id, member.user_id, 'offer' as way, null::text as unit, 'read' as permission
  from team_members as member join teams as team on team.id = member.team_id
  join repository_transfers as offered on offered.recipient_id = team.organization_id where ${mayCreate}
  union all ${teamMembersWith('given.repository_id', 'join team_repositories as given on given.team_id = team.id', 'true')}
)`)

/** Who has all repositories of an owner: (owner_id, user_id, way, unit, permission). */
const byOwner: SQL = sql.raw(`(
  select id as owner_id, id as user_id, 'owner' as way, null::text as unit, 'owner' as permission from users
  union all ${teamMembersWith('team.organization_id as owner_id', '', hasAll)}
)`)

type Way = 'owner' | 'collaborator' | 'team' | 'offer'

interface Question {
  /** For this unit; without one, for any. */
  unit?: Unit | undefined
  /** `write`: at least. Without it, read. */
  level?: 'write'
  /** By one of these ways; without them, by any. */
  ways?: readonly Way[]
}

/** Words of our own are written into the statement, so that the planner leaves out the parts that cannot match. */
const literal = (word: string): SQL => sql.raw(`'${word}'`)

function asked({ unit, level, ways }: Question): SQL {
  const ofUnit = unit === undefined ? sql`` : sql`and (reach.unit is null or reach.unit = ${literal(unit)})`
  const ofLevel = level === undefined ? sql`` : sql`and reach.permission in ('write', 'admin', 'owner')`
  const ofWay = ways === undefined ? sql`` : sql`and reach.way in (${sql.join(ways.map(literal), sql`, `)})`
  return sql`${ofUnit} ${ofLevel} ${ofWay}`
}

/** A repository as columns. */
export interface RepositoryColumns {
  id: SQLWrapper
  ownerId: SQLWrapper
  isPrivate: SQLWrapper
}

/** Whether one person reaches a repository, for a list of repositories: what the person reaches is read once. */
export const isReachedBy = (userId: number, of: RepositoryColumns, question: Question = {}): SQL => sql`(
  ${of.ownerId} in (select reach.owner_id from ${byOwner} as reach where reach.user_id = ${userId} ${asked(question)})
  or ${of.id} in (select reach.repository_id from ${byRepository} as reach where reach.user_id = ${userId} ${asked(question)})
  or (not ${of.isPrivate} and ${of.ownerId} in (
    select organization_id from organization_members where user_id = ${userId})))`

/** The same for many people and few repositories: each pair is looked up. */
export const reaches = (userId: SQLWrapper, of: RepositoryColumns, question: Question = {}): SQL => sql`(
  exists (select 1 from ${byOwner} as reach
    where reach.owner_id = ${of.ownerId} and reach.user_id = ${userId} ${asked(question)})
  or exists (select 1 from ${byRepository} as reach
    where reach.repository_id = ${of.id} and reach.user_id = ${userId} ${asked(question)})
  or (not ${of.isPrivate} and exists (
    select 1 from organization_members where organization_id = ${of.ownerId} and user_id = ${userId})))`

/** Whether a repository is offered to a person, or to an organization for which the person may take it. */
export const isOfferedTo = (userId: SQLWrapper, repositoryId: SQLWrapper): SQL<boolean> => sql<boolean>`exists (
  select 1 from repository_transfers as offered where offered.repository_id = ${repositoryId} and (
    offered.recipient_id = ${userId} or exists (
      select 1 from team_members as member join teams as team on team.id = member.team_id
      where member.user_id = ${userId} and team.organization_id = offered.recipient_id and ${sql.raw(mayCreate)})))`

/**
 * The ids of the repositories that a person owns or was given.
 * @param only of those that are had by their owner: a condition over `owned`, which is joined with `owner`
 */
export const idsGivenTo = (userId: number, question: Question = {}, only?: SQL): SQL => sql`
  select reach.repository_id from ${byRepository} as reach where reach.user_id = ${userId} ${asked(question)}
  union all
  select owned.id from repositories as owned join users as owner on owner.id = owned.owner_id
  where ${only ?? sql`true`} and owned.owner_id in (
    select reach.owner_id from ${byOwner} as reach where reach.user_id = ${userId} ${asked(question)})`

/** The ids of the repositories that are not open to all, but to those who belong to their owner, as a person does. */
export const openToMembers = (userId: number): SQL => sql`
  select owned.id from organization_members as member
  join users as owner on owner.id = member.organization_id and owner.visibility <> 'public'
  join repositories as owned on owned.owner_id = owner.id and not owned.is_private
  where member.user_id = ${userId}`

/** The ids of the people who own one repository or were given it. */
export const peopleGiven = (repository: { id: number; ownerId: number }, question: Question = {}): SQL => sql`
  select reach.user_id from ${byRepository} as reach where reach.repository_id = ${repository.id} ${asked(question)}
  union all
  select reach.user_id from ${byOwner} as reach where reach.owner_id = ${repository.ownerId} ${asked(question)}`

/** Which repositories a team reaches: a relation (team_id, repository_id). A pair may come twice. */
export const teamReach: SQL = sql.raw(`(
  select team_id, repository_id from team_repositories
  union all
  select team.id, owned.id from teams as team join repositories as owned on owned.owner_id = team.organization_id
  where ${hasAll})`)

/** The ids of the repositories that one team reaches. */
export const reachedByTeam = (teamId: number): SQL =>
  sql`select reached.repository_id from ${teamReach} as reached where reached.team_id = ${teamId}`

/** The ids of the teams that reach one repository. */
export const teamsReaching = (repositoryId: number): SQL =>
  sql`select reached.team_id from ${teamReach} as reached where reached.repository_id = ${repositoryId}`

/** What says how open a repository is: columns of any table that has them. */
export interface Openness {
  isPrivate: SQLWrapper
  ownerVisibility: SQLWrapper
}

/** What everybody reads, where nobody has to sign in. */
export const isPublicly = ({ isPrivate, ownerVisibility }: Openness): SQL =>
  sql`(not ${isPrivate} and ${ownerVisibility} = 'public')`

/** What somebody who has signed in reads without being given it. `isRestricted`: of that person. */
export const isOpenTo = (isRestricted: SQLWrapper, { isPrivate, ownerVisibility }: Openness): SQL =>
  sql`(not ${isPrivate} and (${ownerVisibility} = 'public' or (${ownerVisibility} = 'limited' and not ${isRestricted})))`
