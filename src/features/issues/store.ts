import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { prepared } from '../../../db/prepared.ts'
import { rowVersion } from '../../../db/row-version.ts'
import {
  comments,
  type IssueRow,
  issueAssignees,
  issueLabels,
  issues,
  type MilestoneRow,
  milestones,
} from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { appendingEvent } from '../../events/append.ts'

/** A row with the version that its ETag is made of. */
export interface VersionedIssue {
  issue: IssueRow
  version: string
}

const byNumber = prepared((db) =>
  db
    .select({ issue: issues, version: rowVersion(issues) })
    .from(issues)
    .where(and(eq(issues.repositoryId, sql.placeholder('repositoryId')), eq(issues.number, sql.placeholder('number'))))
    .prepare('issue_by_number'),
)

export async function findIssue(db: Db, repositoryId: number, number: number): Promise<VersionedIssue | undefined> {
  const [found] = await byNumber(db).execute({ repositoryId, number })
  return found
}

/** The same within a transaction, which then owns the row until it ends. */
export async function lockIssue(db: Db, repositoryId: number, number: number): Promise<IssueRow | undefined> {
  const [row] = await db
    .select()
    .from(issues)
    .where(and(eq(issues.repositoryId, repositoryId), eq(issues.number, number)))
    .for('update')
  return row
}

export type NewIssue = Pick<
  IssueRow,
  'repositoryId' | 'posterId' | 'title' | 'body' | 'ref' | 'milestoneId' | 'dueAt' | 'isClosed' | 'closedAt'
>

/**
 * Takes the next number of the repository, writes the issue and tells of it, in one statement: whole or not at all without a
 * transaction. The repository's row stays locked until it is done, so that numbers have no gap and no double.
 * @param ownerId of the repository
 */
export async function insertIssue(db: Db, issue: NewIssue, ownerId: number): Promise<IssueRow> {
  const { repositoryId, posterId, title, body, ref, milestoneId, dueAt, isClosed, closedAt } = issue
  const event = { kind: 'issue.created', actorId: posterId, repositoryId, ownerId } as const
  const payload = sql`jsonb_build_object('issueId', id, 'number', number, 'isPull', false)`
  const [row] = await db.execute<{ id: number; number: number; at: Date }>(sql`
    with taken as (
      update ${repositories} set last_issue_number = last_issue_number + 1,
        open_issues_count = open_issues_count + ${isClosed ? 0 : 1}::int
      where id = ${repositoryId}::bigint returning last_issue_number as number),
    made as (
      insert into ${issues} (repository_id, number, poster_id, title, body, ref, milestone_id, due_at, is_closed, closed_at)
      select ${repositoryId}::bigint, number, ${posterId}::bigint, ${title}::text, ${body}::text, ${ref}::text,
        ${milestoneId}::bigint, ${dueAt?.toISOString() ?? null}::timestamptz, ${isClosed}::boolean,
        ${closedAt?.toISOString() ?? null}::timestamptz
      from taken returning id, number, created_at),
    told as (${appendingEvent(event, { payload, made: sql`made` })})
    select id, number, created_at as at from made`)
  if (row === undefined) throw new Error(`repository ${repositoryId} is gone`)
  return { ...issue, ...unset, id: row.id, number: row.number, createdAt: row.at, updatedAt: row.at }
}

/** What a new issue is by the defaults of its table. */
const unset = {
  isPull: false,
  contentVersion: 0,
  isLocked: false,
  lockReason: '',
  pinOrder: 0,
  commentsCount: 0,
  timeEstimateSeconds: 0,
}

export async function updateIssue(db: Db, id: number, change: Partial<IssueRow>): Promise<IssueRow> {
  const [row] = await db.update(issues).set(change).where(eq(issues.id, id)).returning()
  if (row === undefined) throw new Error(`issue ${id} is gone`)
  return row
}

export async function removeIssue(db: Db, id: number): Promise<void> {
  await db.delete(issues).where(eq(issues.id, id))
}

export async function addLabels(db: Db, issueId: number, labelIds: readonly number[]): Promise<void> {
  if (labelIds.length === 0) return
  await db
    .insert(issueLabels)
    .values(labelIds.map((labelId) => ({ issueId, labelId })))
    .onConflictDoNothing()
}

export async function removeLabels(db: Db, issueId: number, labelIds?: readonly number[]): Promise<void> {
  const which = labelIds === undefined ? undefined : inArray(issueLabels.labelId, [...labelIds])
  await db.delete(issueLabels).where(and(eq(issueLabels.issueId, issueId), which))
}

/** Returns those who were not assigned before. */
export async function replaceAssignees(db: Db, issueId: number, userIds: readonly number[]): Promise<number[]> {
  const before = await db
    .delete(issueAssignees)
    .where(eq(issueAssignees.issueId, issueId))
    .returning({ userId: issueAssignees.userId })
  if (userIds.length > 0) await db.insert(issueAssignees).values(userIds.map((userId) => ({ issueId, userId })))
  return userIds.filter((id) => !before.some(({ userId }) => userId === id))
}

/** Writes to the issue's history that it was closed or opened again. */
/** Returns the id of the row that tells of it. */
export async function insertStateChange(
  db: Db,
  issueId: number,
  posterId: number,
  kind: 'close' | 'reopen',
): Promise<number> {
  const [row] = await db.insert(comments).values({ issueId, posterId, kind }).returning({ id: comments.id })
  if (row === undefined) throw new Error('insert returned no row')
  return row.id
}

export async function addToOpenIssues(db: Db, repositoryId: number, change: number): Promise<void> {
  await db
    .update(repositories)
    .set({ openIssuesCount: sql`${repositories.openIssuesCount} + ${change}` })
    .where(eq(repositories.id, repositoryId))
}

/** Counts the issues of these milestones again, after one came, went, closed or opened. */
export async function recountMilestones(db: Db, ids: readonly (number | null)[]): Promise<MilestoneRow[]> {
  const known = ids.filter((id) => id !== null)
  if (known.length === 0) return []
  const count = (isClosed: boolean) =>
    sql`(select count(*) from ${issues} where ${issues.milestoneId} = ${milestones.id} and ${issues.isClosed} = ${isClosed})`
  return db
    .update(milestones)
    .set({ openIssuesCount: count(false), closedIssuesCount: count(true) })
    .where(inArray(milestones.id, known))
    .returning()
}
