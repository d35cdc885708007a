import { and, eq, type SQL, sql } from 'drizzle-orm'
import { repositories, repositoryTotals } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { filterConditions, flagConditions, hasOnlyFlags, type RepositoryFilter } from './filter.ts'
import { viewOf } from './view.ts'

/**
 * How many repositories match and may be seen by the reader, exactly. Counting all of them takes as long as there are many; a
 * filter of nothing but flags takes the sums that are kept, plus the few that the reader sees beyond the public ones.
 */
export async function countRepositories(
  context: Context,
  actor: Actor | undefined,
  filter: RepositoryFilter,
): Promise<number> {
  const open = hasOnlyFlags(filter) ? openTotals(context, actor) : undefined
  if (!open) {
    const condition = and(filterConditions(filter, actor), visibleTo(context.config, actor))
    return countRows(context, { condition, isUsual: filter.text === undefined })
  }
  const ofSort = and(open.condition, flagConditions(repositoryTotals, filter))
  const sum = sql`(select coalesce(sum(${repositoryTotals.repositories}), 0) from ${repositoryTotals} where ${ofSort ?? sql`true`})`
  const view = viewOf(context.config, actor)
  if (!view) return sumTotals(context, ofSort)
  const condition = and(view.beyond, flagConditions(repositories, filter))
  return countRows(context, { condition, more: sum, isUsual: true })
}

async function sumTotals({ db }: Context, condition: SQL | undefined): Promise<number> {
  const [row] = await db
    .select({ total: sql<number>`coalesce(sum(${repositoryTotals.repositories}), 0)::int` })
    .from(repositoryTotals)
    .where(condition)
    .prepare('sum_totals')
    .execute()
  return row?.total ?? 0
}

interface OpenTotals {
  /** The totals that the reader sees all of. */
  condition: SQL | undefined
}

/** Undefined for readers whose view is not made of whole sorts: restricted people and tokens for single repositories. */
function openTotals({ config }: Context, actor: Actor | undefined): OpenTotals | undefined {
  const isPublic = and(sql`not ${repositoryTotals.isPrivate}`, eq(repositoryTotals.ownerVisibility, 'public'))
  if (!actor) return config.requireSigninView ? undefined : { condition: isPublic }
  if (actor.user.isRestricted || actor.repositoryIds) return undefined
  if (actor.publicOnly) return { condition: isPublic }
  if (actor.user.isAdmin) return { condition: undefined }
  const isOpen = and(sql`not ${repositoryTotals.isPrivate}`, sql`${repositoryTotals.ownerVisibility} <> 'private'`)
  return { condition: isOpen }
}

interface Counted {
  condition: SQL | undefined
  /** A number that is added. */
  more?: SQL
  /** Whether one plan is the best for all parameters, so that the database may keep it. */
  isUsual: boolean
}

async function countRows({ db }: Context, { condition, more = sql`0`, isUsual }: Counted): Promise<number> {
  const statement = db
    .select({ total: sql<number>`(count(*) + ${more})::int` })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(condition)
  const [row] = await (isUsual ? statement.prepare('count_repositories').execute() : statement)
  return row?.total ?? 0
}
