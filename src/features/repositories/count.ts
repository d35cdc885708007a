import { and, eq, type SQL, sql } from 'drizzle-orm'
import { repositories, repositoryTotals } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { runKept } from '../../../db/statement.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { filterConditions, flagConditions, hasOnlyFlags, type RepositoryFilter } from './filter.ts'
import { readerKey, viewOf } from './view.ts'

/**
 * How many repositories match and may be seen by the reader, exactly. Counting all of them takes as long as there are many; a
 * filter of nothing but flags takes the sums that are kept, plus the few that the reader sees beyond the public ones.
 */
export async function countRepositories(
  context: Context,
  actor: Actor | undefined,
  filter: RepositoryFilter,
): Promise<number> {
  const compose = () => sql`select (${composeCount(context, actor, filter)})::int as "total"`
  const key = () => JSON.stringify(['count', readerKey(context.config, actor), filter])
  // The best plan for a text depends on the text.
  const [row] = await (filter.text === undefined
    ? runKept<Total>(context.sql, key(), compose)
    : context.db.execute<Total>(compose()))
  return row?.total ?? 0
}

type Total = { total: number }

function composeCount(context: Context, actor: Actor | undefined, filter: RepositoryFilter): SQL {
  const open = hasOnlyFlags(filter) ? openTotals(context, actor) : undefined
  if (!open) return countRows(and(filterConditions(filter, actor), visibleTo(context.config, actor)))
  const ofSort = and(open.condition, flagConditions(repositoryTotals, filter))
  const sum = sql`(select coalesce(sum(${repositoryTotals.repositories}), 0) from ${repositoryTotals} where ${ofSort ?? sql`true`})`
  const view = viewOf(context.config, actor)
  return view ? sql`${sum} + ${countRows(and(view.beyond, flagConditions(repositories, filter)))}` : sum
}

const countRows = (condition: SQL | undefined): SQL => sql`(
  select count(*) from ${repositories} join ${users} on ${users.id} = ${repositories.ownerId}
  where ${condition ?? sql`true`})`

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
