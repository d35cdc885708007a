import { and, type asc, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { anyOf } from '../../../db/any-of.ts'
import { actionsConclusions, actionsStatuses } from '../../../db/schema/actions.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { unitSwitch } from '../../access/unit-switch.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../kernel/errors.ts'
import type { Page } from '../../kernel/page.ts'

/** Where a list looks: in one repository, or in all whose actions somebody may read, of one owner or of the whole site. */
export type Extent = { repositoryId: number } | { reader: Actor | undefined; ownerId?: number }

/** Whether rows of a table lie within. */
export function isWithin(context: Context, { repositoryId }: Pick<OfRepository, 'repositoryId'>, extent: Extent): SQL {
  if ('repositoryId' in extent) return eq(repositoryId, extent.repositoryId)
  return inArray(repositoryId, readableRepositories(context, extent))
}

const readableRepositories = (
  { db, config }: Context,
  { reader, ownerId }: Exclude<Extent, { repositoryId: number }>,
) =>
  db
    .select({ id: repositories.id })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(
      and(
        ownerId === undefined ? undefined : eq(repositories.ownerId, ownerId),
        unitSwitch['repo.actions'],
        visibleTo(config, reader, 'repo.actions'),
      ),
    )

type OfRepository = PgTable & { id: PgColumn; repositoryId: PgColumn }

/**
 * The ids of the rows of a page. From each repository of an owner its first rows are taken by their index: the planner cannot know how
 * many repositories an owner has, and reads and sorts all rows there are.
 */
export function idsOfPage(
  context: Context,
  table: OfRepository,
  { extent, filter, order, page }: { extent: Extent; filter: SQL | undefined; order: typeof asc; page: Page },
) {
  const { db } = context
  const { limit, offset } = page
  if ('repositoryId' in extent || extent.ownerId === undefined) {
    const where = and(isWithin(context, table, extent), filter)
    return db.select({ id: table.id }).from(table).where(where).orderBy(order(table.id)).limit(limit).offset(offset)
  }
  const readable = readableRepositories(context, extent).as('readable')
  const first = db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.repositoryId, readable.id), filter))
    .orderBy(order(table.id))
    .limit(offset + limit)
    .as('first')
  return db
    .select({ id: first.id })
    .from(readable)
    .crossJoinLateral(first)
    .orderBy(order(first.id))
    .limit(limit)
    .offset(offset)
}

interface StateColumns {
  status: PgColumn
  conclusion: PgColumn
}

/** Wire: a word is a status or a conclusion, and any of several counts. `waiting` and `pending` are both what is blocked. */
export function inStates({ status, conclusion }: StateColumns, words: readonly string[] | undefined): SQL | undefined {
  if (!words || words.length === 0) return undefined
  const meant = words.map((word) => (word === 'waiting' || word === 'pending' ? 'blocked' : word))
  const isKnown = (word: string) => [...actionsStatuses, ...actionsConclusions].some((one) => one === word)
  const unknown = words.find((word, index) => word === 'blocked' || !isKnown(meant[index] ?? ''))
  if (unknown !== undefined) throw badRequest(`Invalid status ${unknown}`)
  // An index has what has not ended.
  if (meant.every(isOpen)) return and(sql`${status} <> 'completed'`, anyOf(status, meant))
  return or(anyOf(status, meant), sql`coalesce(${anyOf(conclusion, meant)}, false)`)
}

const isOpen = (word: string): boolean => word !== 'completed' && actionsStatuses.some((status) => status === word)
