import { and, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { issueAssignees, issues } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { stopwatches, type TrackedTimeRow, trackedTimes } from '../../../db/schema/tracked-times.ts'
import { users } from '../../../db/schema/users.ts'
import { type TimeRange, within } from '../../../db/time-range.ts'
import { visibleSubject } from '../../access/visible-subject.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import type { ShownStopwatch } from '../../wire/tracked-time.ts'
import { elsewhereColumns, type IssueElsewhere } from '../issues/elsewhere.ts'

export interface TimeFilter extends TimeRange {
  issueId?: number
  repositoryId?: number
  /** Undefined: of everybody. */
  userId?: number | undefined
}

export interface FoundTime extends IssueElsewhere {
  time: TrackedTimeRow
  userName: string | undefined
}

/** Whose time it is; `users` is the owner of the repository. */
const workers = alias(users, 'worker')

const bookedAt: SortKey = { key: trackedTimes.createdAt, type: 'timestamptz' }
const oldestFirst: SortKey[] = [bookedAt, { key: trackedTimes.id, type: 'bigint' }]

/** The oldest first, as far as the reader may see the issues now. */
export async function listTimes(
  { db, config }: Context,
  actor: Actor,
  filter: TimeFilter,
  page: Page,
): Promise<Paged<FoundTime>> {
  const wanted = and(matching(filter), visibleSubject(config, actor, issues.isPull))
  const found = db
    .select({ ...elsewhereColumns, time: trackedTimes, userName: workers.name, at: positionText(bookedAt) })
    .from(trackedTimes)
    .innerJoin(issues, eq(issues.id, trackedTimes.issueId))
    .innerJoin(repositories, eq(repositories.id, trackedTimes.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .leftJoin(workers, eq(workers.id, trackedTimes.userId))
    .where(and(wanted, afterPosition(oldestFirst, page.after)))
    .orderBy(inOrder(oldestFirst))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const count = db
    .select({ total: sql<number>`count(*)` })
    .from(trackedTimes)
    .innerJoin(issues, eq(issues.id, trackedTimes.issueId))
    .innerJoin(repositories, eq(repositories.id, trackedTimes.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(wanted)
  const [rows, [counted]] = await Promise.all([found, count])
  const cut = cutPage(page, { rows, total: counted?.total ?? 0 }, ({ at, time }) => [at, String(time.id)])
  return { ...cut, rows: cut.rows.map(({ userName, ...row }) => ({ ...row, userName: userName ?? undefined })) }
}

const matching = ({ issueId, repositoryId, userId, ...range }: TimeFilter): SQL | undefined =>
  and(
    issueId === undefined ? undefined : eq(trackedTimes.issueId, issueId),
    repositoryId === undefined ? undefined : eq(trackedTimes.repositoryId, repositoryId),
    userId === undefined ? undefined : eq(trackedTimes.userId, userId),
    within(trackedTimes.createdAt, range),
  )

export async function insertTime(tx: Db, time: typeof trackedTimes.$inferInsert): Promise<TrackedTimeRow> {
  const [row] = await tx.insert(trackedTimes).values(time).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

/** An entry of this issue. */
export async function findTime(db: Db, issueId: number, id: number): Promise<TrackedTimeRow | undefined> {
  const [row] = await db
    .select()
    .from(trackedTimes)
    .where(and(eq(trackedTimes.id, id), eq(trackedTimes.issueId, issueId)))
  return row
}

/** False when somebody else was quicker. */
export async function removeTime(tx: Db, id: number): Promise<boolean> {
  const gone = await tx.delete(trackedTimes).where(eq(trackedTimes.id, id)).returning({ id: trackedTimes.id })
  return gone.length > 0
}

/** Returns the seconds of each entry that went. */
export async function removeTimesOf(tx: Db, issueId: number, userId: number): Promise<number[]> {
  const gone = await tx
    .delete(trackedTimes)
    .where(and(eq(trackedTimes.issueId, issueId), eq(trackedTimes.userId, userId)))
    .returning({ seconds: trackedTimes.seconds })
  return gone.map(({ seconds }) => seconds)
}

export async function isAssigned(db: Db, issueId: number, userId: number): Promise<boolean> {
  return (
    (await db.$count(issueAssignees, and(eq(issueAssignees.issueId, issueId), eq(issueAssignees.userId, userId)))) > 0
  )
}

export async function findStopwatch(db: Db, userId: number): Promise<{ issueId: number; startedAt: Date } | undefined> {
  const [row] = await db.select().from(stopwatches).where(eq(stopwatches.userId, userId))
  return row
}

export async function insertStopwatch(tx: Db, watch: typeof stopwatches.$inferInsert): Promise<void> {
  await tx.insert(stopwatches).values(watch)
}

export async function removeStopwatch(tx: Db, userId: number): Promise<void> {
  await tx.delete(stopwatches).where(eq(stopwatches.userId, userId))
}

/** One at most, if its issue may still be seen. */
export async function listStopwatches({ db, config }: Context, actor: Actor): Promise<ShownStopwatch[]> {
  return db
    .select({
      startedAt: stopwatches.startedAt,
      issue: { number: issues.number, title: issues.title },
      repository: { name: repositories.name, ownerName: users.name },
    })
    .from(stopwatches)
    .innerJoin(issues, eq(issues.id, stopwatches.issueId))
    .innerJoin(repositories, eq(repositories.id, issues.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(eq(stopwatches.userId, actor.user.id), visibleSubject(config, actor, issues.isPull)))
    .limit(1)
}
