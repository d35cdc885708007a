import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { teamMembers } from '../../../db/schema/organizations.ts'
import {
  branchProtectionPeople,
  branchProtections,
  branchProtectionTeams,
  type ProtectionList,
  protectionLists,
  tagProtectionPeople,
  tagProtections,
  tagProtectionTeams,
} from '../../../db/schema/protections.ts'
import type { Mover } from './decide.ts'
import { type BranchRule, type Listed, sortRules, type TagRule } from './rules.ts'

type Entry = { list: ProtectionList; id: number }

const branchPeople = sql<Entry[] | null>`(
  select json_agg(json_build_object('list', ${branchProtectionPeople.list}, 'id', ${branchProtectionPeople.userId}))
  from ${branchProtectionPeople} where ${branchProtectionPeople.protectionId} = ${branchProtections.id})`

const branchTeams = sql<Entry[] | null>`(
  select json_agg(json_build_object('list', ${branchProtectionTeams.list}, 'id', ${branchProtectionTeams.teamId}))
  from ${branchProtectionTeams} where ${branchProtectionTeams.protectionId} = ${branchProtections.id})`

/** The rules for the branches of a repository, in the order in which they count, with who stands on their lists. One statement. */
export async function loadBranchRules(db: Db, repositoryId: number): Promise<BranchRule[]> {
  const rows = await db
    .select({ rule: branchProtections, people: branchPeople, teams: branchTeams })
    .from(branchProtections)
    .where(eq(branchProtections.repositoryId, repositoryId))
    .orderBy(asc(branchProtections.id))
  return sortRules(rows.map(({ rule, people, teams }) => ({ ...rule, lists: listsOf(people ?? [], teams ?? []) })))
}

function listsOf(people: readonly Entry[], teams: readonly Entry[]): Record<ProtectionList, Listed> {
  const of = (list: ProtectionList): Listed => ({
    people: people.filter((entry) => entry.list === list).map(({ id }) => id),
    teams: teams.filter((entry) => entry.list === list).map(({ id }) => id),
  })
  const [push, force, merge, approvals] = protectionLists.map(of)
  if (!push || !force || !merge || !approvals) throw new Error('there are four lists')
  return { push, force_push: force, merge, approvals }
}

const tagPeople = sql<number[] | null>`(
  select json_agg(${tagProtectionPeople.userId}) from ${tagProtectionPeople}
  where ${tagProtectionPeople.protectionId} = ${tagProtections.id})`

const tagTeams = sql<number[] | null>`(
  select json_agg(${tagProtectionTeams.teamId}) from ${tagProtectionTeams}
  where ${tagProtectionTeams.protectionId} = ${tagProtections.id})`

/** The rules for the tags of a repository, the oldest first. One statement. */
export async function loadTagRules(db: Db, repositoryId: number): Promise<TagRule[]> {
  const rows = await db
    .select({ rule: tagProtections, people: tagPeople, teams: tagTeams })
    .from(tagProtections)
    .where(eq(tagProtections.repositoryId, repositoryId))
    .orderBy(asc(tagProtections.id))
  return rows.map(({ rule, people, teams }) => ({ ...rule, listed: { people: people ?? [], teams: teams ?? [] } }))
}

/** A person as rules see them: with their teams in the organization that owns the repository. */
export async function loadMover(
  db: Db,
  { ownerId }: { ownerId: number },
  user: { id: number } | undefined,
): Promise<Mover> {
  if (!user) return { kind: 'person', id: 0, teams: new Set() }
  const rows = await db
    .select({ id: teamMembers.teamId })
    .from(teamMembers)
    .where(and(eq(teamMembers.userId, user.id), eq(teamMembers.organizationId, ownerId)))
  return { kind: 'person', id: user.id, teams: new Set(rows.map(({ id }) => id)) }
}
