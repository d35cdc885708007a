import { and, asc, eq, or, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { teams } from '../../../db/schema/organizations.ts'
import { users } from '../../../db/schema/users.ts'
import { peopleGiven, teamsReaching } from '../../access/reach.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'

/** Who puts others on a list of a rule, and of which repository. */
export interface Subject {
  actor: Actor
  repo: RepositoryAccess
}

/**
 * The ids of the people that a list names. Wire: those without the right that the list is about are left out.
 * @throws Refusal 422 for somebody unknown, and for one who hides and has no part in the repository
 */
export async function findListedPeople(
  { db, config }: Context,
  { actor, repo }: Subject,
  { names, level }: { names: readonly string[]; level: 'read' | 'write' },
): Promise<number[]> {
  if (names.length === 0) return []
  const { repository, owner } = repo
  const question = { unit: 'repo.code', ...(level === 'write' && { level }) } as const
  const isOpen = level === 'read' && !repository.isPrivate && owner.visibility === 'public'
  const given = sql`${users.id} in (${peopleGiven(repository, question)})`
  const hasRight = isOpen ? sql<boolean>`true` : sql<boolean>`(${users.isAdmin} or ${given})`
  const lowerNames = [...new Set(names.map((name) => name.toLowerCase()))]
  const found = await db
    .select({ id: users.id, name: users.lowerName, hasRight })
    .from(users)
    .where(and(anyOf(users.lowerName, lowerNames), eq(users.kind, 'user'), or(visibleAccounts(config, actor), given)))
  const known = new Set(found.map(({ name }) => name))
  const unknown = names.find((name) => !known.has(name.toLowerCase()))
  if (unknown !== undefined) throw invalid(`user does not exist [uid: 0, name: ${unknown}]`)
  return found.filter((person) => person.hasRight).map(({ id }) => id)
}

/**
 * The ids of the teams that a list names; those that do not reach the repository are left out, and all where no organization owns it.
 * @throws Refusal 422 for an unknown team
 */
export async function findListedTeams({ db }: Context, { repo }: Subject, names: readonly string[]): Promise<number[]> {
  const { repository, owner } = repo
  if (names.length === 0 || owner.kind !== 'organization') return []
  const lowerNames = [...new Set(names.map((name) => name.toLowerCase()))]
  const reaches = sql<boolean>`${teams.id} in (${teamsReaching(repository.id)})`
  const found = await db
    .select({ id: teams.id, name: teams.lowerName, reaches })
    .from(teams)
    .where(and(eq(teams.organizationId, owner.id), anyOf(teams.lowerName, lowerNames)))
  const known = new Set(found.map(({ name }) => name))
  const unknown = names.find((name) => !known.has(name.toLowerCase()))
  if (unknown !== undefined) throw invalid(`team does not exist [org_id ${owner.id}, team_id 0, name: ${unknown}]`)
  return found.filter((team) => team.reaches).map(({ id }) => id)
}

/** Names by id, in the order of the names. */
export interface Names {
  people: ReadonlyMap<number, string>
  teams: ReadonlyMap<number, string>
}

export async function loadNames(db: Db, ids: { people: readonly number[]; teams: readonly number[] }): Promise<Names> {
  const [people, groups] = await Promise.all([
    ids.people.length === 0
      ? []
      : db
          .select({ id: users.id, name: users.name })
          .from(users)
          .where(anyOf(users.id, ids.people))
          .orderBy(asc(users.lowerName)),
    ids.teams.length === 0
      ? []
      : db
          .select({ id: teams.id, name: teams.name })
          .from(teams)
          .where(anyOf(teams.id, ids.teams))
          .orderBy(asc(teams.lowerName)),
  ])
  return {
    people: new Map(people.map(({ id, name }) => [id, name])),
    teams: new Map(groups.map(({ id, name }) => [id, name])),
  }
}

/** Those of the names that belong to the ids. */
export const namesOf = (names: ReadonlyMap<number, string>, ids: readonly number[]): string[] =>
  [...names].filter(([id]) => ids.includes(id)).map(([, name]) => name)
