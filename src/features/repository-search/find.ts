import { and, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { afterPosition, heldPlaces, inOrder, type Places, positionText, type SortKey } from '../../../db/keyset.ts'
import { repositories, repositoryCounters } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { runPrepared } from '../../../db/statement.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Position } from '../../kernel/page.ts'
import type { FoundRepository } from '../repositories/cached-rows.ts'
import { foundText } from '../repositories/load.ts'
import { filterConditions, hasOnlyFlags, type RepositoryFilter } from './filter.ts'
import { needsCounters, orderKeys, type RepositoryOrder } from './order.ts'
import { readerKey, viewOf } from './view.ts'

/** Up to this offset a page is read without knowing the total first. */
export const SHALLOW = 1000

/** With its place in the order: every key but the last, which is the id. */
export type PlacedRepository = Pick<FoundRepository, keyof FoundRepository> & Record<`key${number}`, unknown>

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

/** Ids and versions only: the wide rows are read for those that are shown, not for those that are passed over. */
export async function findRepositories(
  context: Context,
  actor: Actor | undefined,
  query: PartQuery,
): Promise<PlacedRepository[]> {
  const { filter, order, part } = query
  const { offset, limit, after, isReversed } = part
  // The best plan for a text depends on the text, and for a deep page on the depth.
  if (offset > 0 || filter.text !== undefined)
    return context.db.execute<PlacedRepository>(compose(context, actor, { ...query, places: () => after }))
  const written = [filter, order, limit, isReversed, after !== undefined]
  const key = JSON.stringify(['list', readerKey(context.config, actor), ...written])
  const statement = () => compose(context, actor, { ...query, places: after && heldPlaces })
  return runPrepared<PlacedRepository>(context.sql, key, statement, after)
}

export function positionOf(found: PlacedRepository): Position {
  const position: string[] = []
  for (let name: `key${number}` = 'key0'; name in found; name = `key${position.length}`)
    position.push(String(found[name]))
  return [...position, String(found.id)]
}

interface Composed extends PartQuery {
  /** Behind which only rows are wanted: the position itself, or what stands for it. */
  places: ((keys: readonly SortKey[]) => Places | undefined) | undefined
}

function compose({ config }: Context, actor: Actor | undefined, { filter, order, part, places }: Composed): SQL {
  const { offset, limit } = part
  const keys = orderKeys(order, part.isReversed ?? false)
  const joined = joinedFor(order)
  const wanted = and(filterConditions(filter, actor), afterPosition(keys, places?.(keys)))
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
  if (offset > 0) return deferredPart(condition, { joined, keys, window })
  const carried = named(keys.slice(0, -1).map(positionText))
  return sql`select ${foundText} ${carried} from ${joined} where ${condition} order by ${inOrder(keys)} ${window}`
}

interface Window {
  /** What is read `from`. */
  joined: SQL
  keys: readonly SortKey[]
  window: SQL
}

/** Of the rows that are passed over only the id and what the order needs is read; versions are read for the page. */
function deferredPart(condition: SQL | undefined, { joined, keys, window }: Window): SQL {
  const outside = outsideOf(keys, 'page')
  return sql`
    select ${foundText} ${outside.places} from (
      select ${repositories.id} ${named(keys.map(({ key }) => key))} from ${joined}
      where ${condition} order by ${inOrder(keys)} ${window}) as page
    join ${repositories} on ${repositories.id} = page.id join ${users} on ${users.id} = ${repositories.ownerId}
    order by ${outside.order}`
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
      select ${foundText} ${named(keys.map(({ key }) => key))} from ${joined}
      where ${condition} order by ${inOrder(keys)} limit ${literal(limit)})`,
  )
  return sql`
    select "id", "version", "ownerId", "ownerVersion" ${outside.places} from (${sql.join(parts, sql` union all `)}) as parts
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
