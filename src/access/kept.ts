import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { keptBy, type Versioned } from '../../db/kept-rows.ts'
import { prepared } from '../../db/prepared.ts'
import { rowVersion } from '../../db/row-version.ts'
import { type RepositoryRow, repositories } from '../../db/schema/repositories.ts'
import { type UserRow, users } from '../../db/schema/users.ts'

/** Which repository and owner, in which state: all that must be read of rows that were read before. */
export interface FoundRepository {
  id: number
  version: string
  ownerId: number
  ownerVersion: string
}

export const repositoryVersion = rowVersion(repositories)
export const ownerVersion = rowVersion(users)

export const foundColumns = {
  id: repositories.id,
  version: repositoryVersion,
  ownerId: repositories.ownerId,
  ownerVersion,
}

export const keptRepositories = keptBy<RepositoryRow>()
export const keptOwners = keptBy<UserRow>()

/** A repository and its owner. */
export interface Pair {
  repository: Versioned<RepositoryRow>
  owner: Versioned<UserRow>
}

const pairById = prepared((db) =>
  db
    .select({ repository: repositories, version: repositoryVersion, owner: users, ownerVersion })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(eq(repositories.id, sql.placeholder('id')))
    .prepare('repository_with_owner'),
)

/** The rows of a repository that was just found; undefined when it has gone since. */
export async function readPair(db: Db, found: FoundRepository): Promise<Pair | undefined> {
  const repository = keptRepositories(db).get(found.id, found.version)
  const owner = keptOwners(db).get(found.ownerId, found.ownerVersion)
  if (repository && owner) return { repository, owner }
  const [read] = await pairById(db).execute({ id: found.id })
  if (!read) return undefined
  const pair = {
    repository: { row: read.repository, version: read.version },
    owner: { row: read.owner, version: read.ownerVersion },
  }
  keptRepositories(db).keep(pair.repository)
  keptOwners(db).keep(pair.owner)
  return pair
}
