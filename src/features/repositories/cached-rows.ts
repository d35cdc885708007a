import { keptBy, type Versioned } from '../../../db/kept-rows.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'

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

export const cachedRepositories = keptBy<RepositoryRow>()
export const cachedOwners = keptBy<UserRow>()

/** A repository and its owner. */
export interface Pair {
  repository: Versioned<RepositoryRow>
  owner: Versioned<UserRow>
}
