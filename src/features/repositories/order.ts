import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SortKey } from '../../../db/keyset.ts'
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
  name: [{ key: repositories.lowerName, type: 'text' }],
  /** Wire: by owner, then by name. */
  alpha: [
    { key: users.lowerName, type: 'text' },
    { key: repositories.lowerName, type: 'text' },
  ],
  created: [{ key: repositories.createdAt, type: 'timestamptz' }],
  updated: [{ key: repositories.updatedAt, type: 'timestamptz' }],
  size: [{ key: repositories.sizeBytes, type: 'bigint' }],
  id: [],
  stars: [{ key: repositories.starsCount, type: 'bigint' }],
  forks: [{ key: repositories.forksCount, type: 'bigint' }],
} satisfies Record<RepositorySort, SortKey[]>

const starredAt = (userId: number): SQL => sql`(
  select ${stars.createdAt} from ${stars} where ${stars.userId} = ${userId} and ${stars.repositoryId} = ${repositories.id})`

/** @param isReversed for reading a list from its end */
export function orderKeys(order: RepositoryOrder, isReversed: boolean): SortKey[] {
  const { by, isDescending = false, firstOwnerId, starredById } = order
  const along = (key: SortKey): SortKey => ({ ...key, isDescending: isDescending !== isReversed })
  const first = (key: SQLWrapper, type: SortKey['type']): SortKey => ({ key, type, isDescending: !isReversed })
  return [
    ...(firstOwnerId === undefined ? [] : [first(sql`(${repositories.ownerId} = ${firstOwnerId})`, 'boolean')]),
    ...(starredById === undefined ? [] : [first(starredAt(starredById), 'timestamptz')]),
    ...keys[by].map(along),
    along({ key: repositories.id, type: 'bigint' }),
  ]
}
