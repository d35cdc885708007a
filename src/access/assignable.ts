import { and, eq, ne, or, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../db/any-of.ts'
import type { Db } from '../../db/client.ts'
import { repositories } from '../../db/schema/repositories.ts'
import { type UserRow, users } from '../../db/schema/users.ts'
import { isOpenTo, peopleGiven, reaches } from './reach.ts'

type Repository = { id: number; ownerId: number }

const isPerson = eq(users.kind, 'user')

/** Who has write on some unit of a repository, as a condition over `users`. */
const writers = (repository: Repository): SQL => sql`${users.id} in (${peopleGiven(repository, { level: 'write' })})`

const hasPulls = sql`${repositories.hasPullRequests}`

/**
 * Who reads the pull requests of a repository. A private person counts only where the repository was given: else naming somebody would say
 * that the account exists.
 */
const readsPulls = ({ id }: Repository): SQL => sql`exists (
  select 1 from ${repositories} join ${users} as owner on owner.id = ${repositories.ownerId}
  where ${repositories.id} = ${id} and ${hasPulls} and (
    ${reaches(users.id, repositories, { unit: 'repo.pulls' })}
    or (${ne(users.visibility, 'private')} and ${isOpenTo(users.isRestricted, {
      isPrivate: repositories.isPrivate,
      ownerVisibility: sql`owner.visibility`,
    })})))`

/**
 * Of the named people those who may be asked to work on a repository. Wire: who has write on some unit of it, who reads its pull requests,
 * and site administrators.
 * @param names in any letter case
 */
export function findAssignable(db: Db, repository: Repository, names: readonly string[]): Promise<UserRow[]> {
  if (names.length === 0) return Promise.resolve([])
  const lowerNames = [...new Set(names.map((name) => name.toLowerCase()))]
  const mayBeAsked = or(eq(users.isAdmin, true), writers(repository), readsPulls(repository))
  return db
    .select()
    .from(users)
    .where(and(anyOf(users.lowerName, lowerNames), isPerson, mayBeAsked))
    .orderBy(users.id)
}

/** Who is in a team that reads the pull requests of a repository. */
const inPullTeam = (repository: Repository): SQL => sql`(
  exists (select 1 from ${repositories} where ${repositories.id} = ${repository.id} and ${hasPulls})
  and ${users.id} in (${peopleGiven(repository, { unit: 'repo.pulls', ways: ['team'] })}))`

/** Whom a repository suggests, by name. Wire: writers, and the teams that read its pull requests; nobody else who may be asked. */
export const listAssignable = (db: Db, repository: Repository): Promise<UserRow[]> =>
  db
    .select()
    .from(users)
    .where(and(isPerson, or(writers(repository), inPullTeam(repository))))
    .orderBy(users.lowerName)

/** Everybody who was given the repository in some way, by name: whom a review can be asked of. */
export const listReviewers = (db: Db, repository: Repository): Promise<UserRow[]> =>
  db
    .select()
    .from(users)
    .where(and(isPerson, sql`${users.id} in (${peopleGiven(repository)})`))
    .orderBy(users.lowerName)

/** Whether somebody is one of them. */
export const isReviewer = async (db: Db, repository: Repository, userId: number): Promise<boolean> =>
  (await db.$count(users, and(eq(users.id, userId), isPerson, sql`${users.id} in (${peopleGiven(repository)})`))) > 0
