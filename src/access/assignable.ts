import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../db/any-of.ts'
import type { Db } from '../../db/client.ts'
import { type UserRow, users } from '../../db/schema/users.ts'
import { peopleGiven } from './reach.ts'

type Repository = { id: number; ownerId: number }

/** Who has write on some unit of a repository, as a condition over `users`. */
const writers = (repository: Repository): SQL => sql`${users.id} in (${peopleGiven(repository, { level: 'write' })})`

const isPerson = eq(users.kind, 'user')

/**
 * Of the named people those who may be asked to work on a repository: who has write on some unit of it, and site administrators.
 * @param names in any letter case
 */
export function findAssignable(db: Db, repository: Repository, names: readonly string[]): Promise<UserRow[]> {
  if (names.length === 0) return Promise.resolve([])
  const lowerNames = [...new Set(names.map((name) => name.toLowerCase()))]
  return db
    .select()
    .from(users)
    .where(and(anyOf(users.lowerName, lowerNames), isPerson, or(eq(users.isAdmin, true), writers(repository))))
    .orderBy(users.id)
}

/** Everybody who may be asked, by name; site administrators only where they belong to it. */
export const listAssignable = (db: Db, repository: Repository): Promise<UserRow[]> =>
  db
    .select()
    .from(users)
    .where(and(isPerson, writers(repository)))
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
