import { and, type SQL, sql } from 'drizzle-orm'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { runKept } from '../../../db/statement.ts'
import type { FoundRepository } from '../../access/kept.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Page } from '../../kernel/page.ts'
import { countRepositories } from './count.ts'
import { filterConditions, hasOnlyFlags, type RepositoryFilter } from './filter.ts'
import { foundText, type LoadedForShow, loadFound } from './load.ts'
import { type OrderKey, orderKeys, type RepositoryOrder } from './order.ts'
import { readerKey, viewOf } from './view.ts'

export interface RepositoryQuery {
  filter: RepositoryFilter
  order: RepositoryOrder
  page: Page
}

export interface RepositoryPage {
  rows: LoadedForShow[]
  /** All that match and that the reader may see. */
  total: number
}

/** Up to here the page is read without knowing the total first. */
const SHALLOW = 1000

/** One page of the repositories that match and that the reader may see. */
export async function listRepositories(
  context: Context,
  actor: Actor | undefined,
  query: RepositoryQuery,
): Promise<RepositoryPage> {
  const counted = countRepositories(context, actor, query.filter)
  if (query.page.offset <= SHALLOW) {
    const found = findPart(context, actor, query, { offset: query.page.offset, limit: query.page.limit })
    const [total, rows] = await Promise.all([counted, found.then((all) => loadFound(context, actor, all))])
    return { rows, total }
  }
  const total = await counted
  const found = await findDeep(context, actor, query, total)
  return { rows: await loadFound(context, actor, found), total }
}

/** From the nearer end: the last page costs what the first one does. */
async function findDeep(
  context: Context,
  actor: Actor | undefined,
  query: RepositoryQuery,
  total: number,
): Promise<FoundRepository[]> {
  const { offset } = query.page
  const limit = Math.min(query.page.limit, total - offset)
  if (limit <= 0) return []
  if (offset <= total / 2) return findPart(context, actor, query, { offset, limit })
  const fromEnd = { offset: total - offset - limit, limit, isReversed: true }
  return (await findPart(context, actor, query, fromEnd)).reverse()
}

/** The same as a type of its own, which the driver wants. */
type Found = Pick<FoundRepository, keyof FoundRepository>

interface Part {
  offset: number
  limit: number
  isReversed?: boolean
}

/** Ids and versions only: the wide rows are read for those that are shown, not for those that are passed over. */
async function findPart(
  context: Context,
  actor: Actor | undefined,
  query: RepositoryQuery,
  part: Part,
): Promise<FoundRepository[]> {
  const compose = () => composePart(context, actor, query, part)
  // The best plan for a text depends on the text, and for a deep page on the depth.
  if (part.offset > 0 || query.filter.text !== undefined) return context.db.execute<Found>(compose())
  const key = JSON.stringify(['list', readerKey(context.config, actor), query.filter, query.order, part])
  return runKept<FoundRepository>(context.sql, key, compose)
}

function composePart(
  { config }: Context,
  actor: Actor | undefined,
  { filter, order }: RepositoryQuery,
  { offset, limit, isReversed = false }: Part,
): SQL {
  const wanted = filterConditions(filter, actor)
  const keys = orderKeys(order, isReversed)
  const window = sql`limit ${literal(limit)} ${offset === 0 ? sql`` : sql`offset ${literal(offset)}`}`
  // Two parts are read up to the end of the page each: worth it for the first pages only.
  const view = offset <= SHALLOW && hasOnlyFlags(filter) ? viewOf(config, actor) : undefined
  if (view)
    return mergedParts([and(wanted, view.open), and(wanted, view.beyond)], { keys, window, limit: offset + limit })
  const condition = and(wanted, visibleTo(config, actor))
  return offset === 0
    ? sql`select ${foundText} from ${joined} where ${condition} order by ${sql.join(keys.map(ordered), sql`, `)} ${window}`
    : deferredPart(condition, { keys, window })
}

/** Of the rows that are passed over only the id and what the order needs is read; versions are read for the page. */
function deferredPart(condition: SQL | undefined, { keys, window }: Pick<Merge, 'keys' | 'window'>): SQL {
  const named = keys.map(({ key }, index) => sql`${key} as ${sql.identifier(`key${index}`)}`)
  return sql`
    select ${foundText} from (
      select ${repositories.id}, ${sql.join(named, sql`, `)} from ${joined}
      where ${condition} order by ${sql.join(keys.map(ordered), sql`, `)} ${window}) as page
    join ${repositories} on ${repositories.id} = page.id join ${users} on ${users.id} = ${repositories.ownerId}
    order by ${sql.join(byNames(keys), sql`, `)}`
}

const joined = sql`${repositories} join ${users} on ${users.id} = ${repositories.ownerId}`

const ordered = ({ key, isDescending }: OrderKey): SQL => sql`${key} ${sql.raw(isDescending ? 'desc' : 'asc')}`

interface Merge {
  keys: readonly OrderKey[]
  window: SQL
  /** As many rows as any part can give to the page. */
  limit: number
}

/** The page of several sets that have no row in common, each read in order by itself. */
function mergedParts(conditions: readonly (SQL | undefined)[], { keys, window, limit }: Merge): SQL {
  const named = keys.map(({ key }, index) => sql`${key} as ${sql.identifier(`key${index}`)}`)
  const parts = conditions.map(
    (condition) => sql`(
      select ${foundText}, ${sql.join(named, sql`, `)} from ${joined}
      where ${condition} order by ${sql.join(keys.map(ordered), sql`, `)} limit ${literal(limit)})`,
  )
  return sql`
    select "id", "version", "ownerId", "ownerVersion" from (${sql.join(parts, sql` union all `)}) as parts
    order by ${sql.join(byNames(keys), sql`, `)} ${window}`
}

/** The same order over columns that carry the keys out of an inner select. */
const byNames = (keys: readonly OrderKey[]): SQL[] =>
  keys.map(({ isDescending }, index) => ordered({ key: sql`${sql.identifier(`key${index}`)}`, isDescending }))

/** A number in the text of a statement: a plan for any number would be one for a tenth of all rows. */
const literal = (number: number): SQL => sql.raw(String(Math.trunc(number)))
