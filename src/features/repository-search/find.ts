import { and, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { repositories, repositoryCounters } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Position } from '../../kernel/page.ts'
import { filterConditions, hasOnlyFlags, type RepositoryFilter } from './filter.ts'
import { needsCounters, orderKeys, type RepositoryOrder } from './order.ts'
import { viewOf } from './view.ts'

/** Up to this offset a page is read without knowing the total first. */
export const SHALLOW = 1000

/** With its place in the order: every key but the last, which is the id. */
export type PlacedRepository = { id: number } & Record<`key${number}`, unknown>

export interface PartQuery {
  filter: RepositoryFilter
  order: RepositoryOrder
  part: Part
}

interface Part {
  offset: number
  limit: number
  after?: Position | undefined
  isReversed?: boolean
}

/** Ids only: the wide rows are read for those that are shown, not for those that are passed over. */
export async function findRepositories(
  context: Context,
  actor: Actor | undefined,
  query: PartQuery,
): Promise<PlacedRepository[]> {
  return context.db.execute<PlacedRepository>(compose(context, actor, query))
}

export function positionOf(found: PlacedRepository): Position {
  const position: string[] = []
  for (let name: `key${number}` = 'key0'; name in found; name = `key${position.length}`)
    position.push(String(found[name]))
  return [...position, String(found.id)]
}

function compose({ config }: Context, actor: Actor | undefined, { filter, order, part }: PartQuery): SQL {
  const { offset, limit, after } = part
  const keys = orderKeys(order, part.isReversed ?? false)
  const joined = joinedFor(order)
  const wanted = and(filterConditions(filter, actor), afterPosition(keys, after))
  const window = sql`limit ${literal(limit)} ${offset === 0 ? sql`` : sql`offset ${literal(offset)}`}`
  // Two parts are read up to the end of the page each: worth it for the first pages only.
  const view = offset <= SHALLOW && hasOnlyFlags(filter) ? viewOf(config, actor) : undefined
  if (view)
    return mergedParts([and(wanted, view.open), and(wanted, view.beyond)], {
      joined,
      keys,
      window,
      limit: offset + limit,
    })
  const condition = and(wanted, visibleTo(config, actor))
  const carried = named(keys.slice(0, -1).map(positionText))
  return sql`select ${repositories.id} ${carried} from ${joined} where ${condition} order by ${inOrder(keys)} ${window}`
}

interface Window {
  /** What is read `from`. */
  joined: SQL
  keys: readonly SortKey[]
  window: SQL
}

interface Merge extends Window {
  /** As many rows as any part can give to the page. */
  limit: number
}

/** The page of several sets that have no row in common, each read in order by itself. */
function mergedParts(conditions: readonly (SQL | undefined)[], { joined, keys, window, limit }: Merge): SQL {
  const outside = outsideOf(keys, 'parts')
  const parts = conditions.map(
    (condition) => sql`(
      select ${repositories.id} ${named(keys.map(({ key }) => key))} from ${joined}
      where ${condition} order by ${inOrder(keys)} limit ${literal(limit)})`,
  )
  return sql`
    select "id" ${outside.places} from (${sql.join(parts, sql` union all `)}) as parts
    order by ${outside.order} ${window}`
}

function joinedFor(order: RepositoryOrder): SQL {
  const owned = sql`${repositories} join ${users} on ${users.id} = ${repositories.ownerId}`
  if (!needsCounters(order)) return owned
  return sql`${repositoryCounters} join (${owned}) on ${repositories.id} = ${repositoryCounters.repositoryId}`
}

/** Further columns of a selection, as `key0`, `key1` and so on. */
const named = (columns: readonly SQLWrapper[]): SQL =>
  sql.join(columns.map((column, index) => sql`, ${column} as ${sql.identifier(`key${index}`)}`))

/** Order and places by the columns that carry the keys out of an inner selection. */
function outsideOf(keys: readonly SortKey[], inner: string): { order: SQL; places: SQL } {
  const carried = keys.map((key, index) => ({
    ...key,
    key: sql`${sql.identifier(inner)}.${sql.identifier(`key${index}`)}`,
  }))
  return { order: inOrder(carried), places: named(carried.slice(0, -1).map(positionText)) }
}

/** A number in the text of a statement: a plan for any number would be one for a tenth of all rows. */
const literal = (number: number): SQL => sql.raw(String(Math.trunc(number)))
