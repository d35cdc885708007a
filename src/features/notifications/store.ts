import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { type NotificationRow, notifications, type ThreadStatus } from '../../../db/schema/notifications.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { visibleSubject } from '../../access/visible-subject.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import { type ThreadFilter, threadsOf } from './filter.ts'

const notifiedAt: SortKey = { key: notifications.updatedAt, type: 'timestamptz', isDescending: true }
/** Of those of the same time, the newest event: each is in one thread of a person. */
const newestFirst: SortKey[] = [notifiedAt, { key: notifications.eventId, type: 'bigint', isDescending: true }]

/** Those that the reader may see, the newest news first. */
export async function listThreads(
  context: Context,
  actor: Actor,
  filter: ThreadFilter,
  page: Page,
): Promise<Paged<NotificationRow>> {
  const wanted = and(threadsOf(filter), visibleSubject(context.config, actor, notifications.isPull))
  const found = context.db
    .select({ thread: notifications, at: positionText(notifiedAt) })
    .from(notifications)
    .innerJoin(repositories, eq(repositories.id, notifications.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(wanted, afterPosition(newestFirst, page.after)))
    .orderBy(inOrder(newestFirst))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([found, countThreads(context, actor, filter)])
  const cut = cutPage(page, { rows, total }, ({ at, thread }) => [at, String(thread.eventId)])
  return { ...cut, rows: cut.rows.map(({ thread }) => thread) }
}

/** Judges each repository once, and not every thread in it. */
export async function countThreads(context: Context, actor: Actor, filter: ThreadFilter): Promise<number> {
  const tally = context.db
    .select({
      repositoryId: notifications.repositoryId,
      isPull: notifications.isPull,
      threads: sql<number>`count(*)`.as('threads'),
    })
    .from(notifications)
    .where(threadsOf(filter))
    .groupBy(notifications.repositoryId, notifications.isPull)
    .as('tally')
  const [row] = await context.db
    .select({ count: sql<number>`coalesce(sum(${tally.threads}), 0)::integer` })
    .from(tally)
    .innerJoin(repositories, eq(repositories.id, tally.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(visibleSubject(context.config, actor, tally.isPull))
  return row?.count ?? 0
}

/** Anybody's thread, as far as the reader may see what it is about. */
export async function findThread(context: Context, actor: Actor, id: number): Promise<NotificationRow | undefined> {
  const [row] = await context.db
    .select({ thread: notifications })
    .from(notifications)
    .innerJoin(repositories, eq(repositories.id, notifications.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(eq(notifications.id, id), visibleSubject(context.config, actor, notifications.isPull)))
  return row?.thread
}

export async function setStatus(db: Db, id: number, status: ThreadStatus): Promise<NotificationRow | undefined> {
  const [row] = await db.update(notifications).set({ status }).where(eq(notifications.id, id)).returning()
  return row
}

/**
 * Marks all that match and that the reader may see, in one statement.
 * @returns the newest of them, at most `limit`, the newest first
 */
export async function setStatuses(
  context: Context,
  actor: Actor,
  { filter, status, limit }: { filter: ThreadFilter; status: ThreadStatus; limit: number },
): Promise<NotificationRow[]> {
  const { db } = context
  const wanted = and(threadsOf(filter), visibleSubject(context.config, actor, notifications.isPull))
  // In one order, so that two of these, or one and a fan-out, never wait for each other.
  const found = sql`
    select ${notifications.id}, ${notifications.updatedAt}, ${notifications.eventId} from ${notifications}
    join ${repositories} on ${repositories.id} = ${notifications.repositoryId}
    join ${users} on ${users.id} = ${repositories.ownerId}
    where ${wanted} order by ${notifications.issueId} for update of ${notifications}`
  const rows = await db.execute<{ id: number }>(sql`
    with found as materialized (${found}), marked as (${marking(db, status)})
    select id from found order by updated_at desc, event_id desc limit ${limit}`)
  return rowsOf(
    db,
    rows.map(({ id }) => id),
  )
}

const marking = (db: Db, status: ThreadStatus): SQL =>
  db
    .update(notifications)
    .set({ status })
    .where(and(sql`${notifications.id} in (select id from found)`, ne(notifications.status, status)))
    .getSQL()

/** In the order of the ids. */
async function rowsOf(db: Db, ids: readonly number[]): Promise<NotificationRow[]> {
  if (ids.length === 0) return []
  const rows = await db.select().from(notifications).where(anyOf(notifications.id, ids))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
