import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SortKey } from '../../../db/keyset.ts'
import { repositories, repositoryCounters, stars } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'

export const repositorySorts = [
  'name',
  'alpha',
  'created',
  'updated',
  'size',
  'git_size',
  'lfs_size',
  'id',
  'stars',
  'forks',
] as const
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
  size: [{ key: repositoryCounters.totalBytes, type: 'bigint' }],
  git_size: [{ key: repositoryCounters.sizeBytes, type: 'bigint' }],
  lfs_size: [{ key: repositoryCounters.lfsBytes, type: 'bigint' }],
  id: [],
  stars: [{ key: repositoryCounters.starsCount, type: 'bigint' }],
  forks: [{ key: repositoryCounters.forksCount, type: 'bigint' }],
} satisfies Record<RepositorySort, SortKey[]>

/** Orders by numbers, whose index holds the id too. A page is found in it only if the id of the order is that of the same table. */
export const needsCounters = ({ by }: RepositoryOrder): boolean => COUNTED.has(by)

const COUNTED: ReadonlySet<RepositorySort> = new Set(['size', 'git_size', 'lfs_size', 'stars', 'forks'])

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
    along({ key: needsCounters(order) ? repositoryCounters.repositoryId : repositories.id, type: 'bigint' }),
  ]
}
