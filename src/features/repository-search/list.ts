import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import type { ShownRepository } from '../../wire/repository.ts'
import { loadRepositoriesById } from '../repositories/load.ts'
import { countRepositories } from './count.ts'
import type { RepositoryFilter } from './filter.ts'
import { findRepositories, type PlacedRepository, positionOf, SHALLOW } from './find.ts'
import type { RepositoryOrder } from './order.ts'

export interface RepositoryQuery {
  filter: RepositoryFilter
  order: RepositoryOrder
  page: Page
}

export type RepositoryPage = Paged<ShownRepository>

/** One page of the repositories that match and that the reader may see. */
export async function listRepositories(
  context: Context,
  actor: Actor | undefined,
  query: RepositoryQuery,
): Promise<RepositoryPage> {
  const { page } = query
  const load = (found: readonly PlacedRepository[]) => {
    const ids = found.slice(0, page.limit).map(({ id }) => id)
    return loadRepositoriesById(context, actor, ids)
  }
  const counted = countRepositories(context, actor, query.filter)
  if (rowsToSkip(page) <= SHALLOW) {
    const part = { offset: rowsToSkip(page), limit: rowsToRead(page), after: page.after }
    const found = findRepositories(context, actor, { ...query, part })
    const [total, read, rows] = await Promise.all([counted, found, found.then(load)])
    return { ...cutPage(page, { rows: read, total }, positionOf), rows }
  }
  const total = await counted
  const found = await findDeep(context, actor, query, total)
  return { ...cutPage(page, { rows: found, total }, positionOf), rows: await load(found) }
}

/** From the nearer end: the last page costs what the first one does. */
async function findDeep(
  context: Context,
  actor: Actor | undefined,
  query: RepositoryQuery,
  total: number,
): Promise<PlacedRepository[]> {
  const { offset } = query.page
  const limit = Math.min(query.page.limit, total - offset)
  if (limit <= 0) return []
  if (offset <= total / 2) return findRepositories(context, actor, { ...query, part: { offset, limit } })
  const part = { offset: total - offset - limit, limit, isReversed: true }
  return (await findRepositories(context, actor, { ...query, part })).reverse()
}
