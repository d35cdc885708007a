import { type SQL, sql } from 'drizzle-orm'
import { repositories, stars } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'

export const repositorySorts = ['name', 'alpha', 'created', 'updated', 'size', 'id', 'stars', 'forks'] as const
export type RepositorySort = (typeof repositorySorts)[number]

export interface RepositoryOrder {
  by: RepositorySort
  isDescending?: boolean
  /** The repositories of this owner come before all others. */
  firstOwnerId?: number
  /** The newest of this person's stars come first, before the rest of the order. */
  starredById?: number
}

/** Every order ends with the id, so that no two rows are equal and pages neither repeat nor leave out. */
const keys = {
  name: [repositories.lowerName],
  /** Wire: by owner, then by name. */
  alpha: [users.lowerName, repositories.lowerName],
  created: [repositories.createdAt],
  updated: [repositories.updatedAt],
  size: [repositories.sizeBytes],
  id: [],
  stars: [repositories.starsCount],
  forks: [repositories.forksCount],
} satisfies Record<RepositorySort, unknown[]>

const starredAt = (userId: number): SQL => sql`(
  select ${stars.createdAt} from ${stars} where ${stars.userId} = ${userId} and ${stars.repositoryId} = ${repositories.id})`

export interface OrderKey {
  key: SQL
  isDescending: boolean
}

/** @param isReversed for reading a list from its end */
export function orderKeys(order: RepositoryOrder, isReversed: boolean): OrderKey[] {
  const { by, isDescending = false, firstOwnerId, starredById } = order
  const along = (key: SQL): OrderKey => ({ key, isDescending: isDescending !== isReversed })
  const first = (key: SQL): OrderKey => ({ key, isDescending: !isReversed })
  return [
    ...(firstOwnerId === undefined ? [] : [first(sql`(${repositories.ownerId} = ${firstOwnerId})`)]),
    ...(starredById === undefined ? [] : [first(starredAt(starredById))]),
    ...keys[by].map((column) => along(sql`${column}`)),
    along(sql`${repositories.id}`),
  ]
}
