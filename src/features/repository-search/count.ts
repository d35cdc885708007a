import { and, type SQL, sql } from 'drizzle-orm'
import { repositories, repositoryTotals } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { SiteRules } from '../../access/decide.ts'
import { openTo, visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { filterConditions, flagConditions, hasOnlyFlags, type RepositoryFilter } from './filter.ts'
import { viewOf } from './view.ts'

/**
 * How many repositories match and may be seen by the reader, exactly. Counting all of them takes as long as there are many; a
 * filter of nothing but flags takes the stored sums, plus the few that the reader sees beyond the public ones.
 */
export async function countRepositories(
  context: CountContext,
  actor: Actor | undefined,
  filter: RepositoryFilter,
): Promise<number> {
  const [row] = await context.db.execute<{ total: number }>(
    sql`select (${composeCount(context, actor, filter)})::int as "total"`,
  )
  return row?.total ?? 0
}

type CountContext = Pick<Context, 'db'> & { config: SiteRules }

function composeCount(context: CountContext, actor: Actor | undefined, filter: RepositoryFilter): SQL {
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

/** The condition of those totals that the reader sees all of; undefined where the view is not made of whole sorts of repositories. */
function openTotals({ config }: CountContext, actor: Actor | undefined): { condition: SQL | undefined } | undefined {
  if (actor?.repositoryIds && !actor.publicOnly) return undefined
  const { isPrivate, ownerVisibility } = repositoryTotals
  return {
    condition: openTo(config, actor, { isPrivate: sql`${isPrivate}`, ownerVisibility: sql`${ownerVisibility}` }),
  }
}
