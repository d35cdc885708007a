import { and, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { attachments } from '../../../db/schema/attachments.ts'
import { type IssueRow, issueAssignees, issueLabels, issues } from '../../../db/schema/issues.ts'
import { repositories, repositoryCounters } from '../../../db/schema/repositories.ts'
import { blocks } from '../../../db/schema/users.ts'
import { appendingEvent } from '../../events/append.ts'
import type { AssetFacts, IssueFacts } from '../../events/catalogue.ts'
import { type IssueBelongings, issueFacts } from '../../events/issue-facts.ts'

/** Locks an issue until the transaction ends; undefined when it is gone. */
export async function lockIssue(db: Db, repositoryId: number, number: number): Promise<IssueRow | undefined> {
  const [row] = await db
    .select()
    .from(issues)
    .where(and(eq(issues.repositoryId, repositoryId), eq(issues.number, number)))
    .for('update')
  return row
}

/** Locks issues until the transaction ends, each in the order of its id, so that two of these never wait for each other. */
export const lockIssues = (db: Db, ids: readonly number[]): Promise<IssueRow[]> =>
  db.select().from(issues).where(anyOf(issues.id, ids)).orderBy(issues.id).for('update')

export async function touchIssues(tx: Db, ids: readonly number[], at: Date): Promise<void> {
  await tx.update(issues).set({ updatedAt: at }).where(anyOf(issues.id, ids))
}

export type NewIssue = Pick<
  IssueRow,
  'repositoryId' | 'posterId' | 'title' | 'body' | 'ref' | 'milestoneId' | 'dueAt' | 'isClosed' | 'closedAt'
>

/**
 * Takes the next number of the repository, writes the issue and its event in one statement: whole or not at all without a
 * transaction. The row of the counters stays locked until it is done, so that numbers have no gap and no double. The repository's row is
 * locked before it, as everywhere: who deletes the repository waits, or was first.
 * @param option the repository's owner, and what the caller adds to the issue in the same transaction
 * @returns undefined when the repository is gone, and when its owner has blocked the poster
 */
export async function insertIssue(
  db: Db,
  issue: NewIssue,
  { ownerId, belongings }: { ownerId: number; belongings: IssueBelongings },
): Promise<IssueRow | undefined> {
  const { repositoryId, posterId, title, body, ref, milestoneId, dueAt, isClosed, closedAt } = issue
  const event = { kind: 'issue.created', actorId: posterId, repositoryId, ownerId } as const
  const draft = { ...issue, ...unset, id: 0, number: 0, createdAt: NEVER, updatedAt: NEVER }
  const facts = JSON.stringify(issueFacts(draft, belongings))
  const payload = sql`jsonb_build_object('issueId', id, 'number', number, 'isPull', false, 'facts',
    ${facts}::text::jsonb || jsonb_build_object('createdAt', created_at, 'updatedAt', created_at))`
  const [row] = await db.execute<{ id: number; number: number; at: Date }>(sql`
    with place as (
      select id from ${repositories} where id = ${repositoryId}::bigint and not exists (
        select from ${blocks} where blocker_id = ${ownerId}::bigint and blocked_id = ${posterId}::bigint)
      for key share),
    taken as (
      update ${repositoryCounters} set last_issue_number = last_issue_number + 1
      from place where repository_id = place.id returning last_issue_number as number),
    made as (
      insert into ${issues} (repository_id, number, poster_id, title, body, ref, milestone_id, due_at, is_closed, closed_at)
      select ${repositoryId}::bigint, number, ${posterId}::bigint, ${title}::text, ${body}::text, ${ref}::text,
        ${milestoneId}::bigint, ${dueAt?.toISOString() ?? null}::timestamptz, ${isClosed}::boolean,
        ${closedAt?.toISOString() ?? null}::timestamptz
      from taken returning id, number, created_at),
    event as (${appendingEvent(event, { payload, made: sql`made` })})
    select id, number, created_at as at from made`)
  if (row === undefined) return undefined
  return { ...issue, ...unset, id: row.id, number: row.number, createdAt: row.at, updatedAt: row.at }
}

/** In place of times that the database gives. */
const NEVER = new Date(0)

/** What a new issue is by the defaults of its table. */
const unset = {
  isPull: false,
  originalAuthor: '',
  originalAuthorId: 0,
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

/** Returns the row as it was in the end; undefined when somebody else was quicker. */
export async function removeIssue(tx: Db, id: number): Promise<IssueRow | undefined> {
  const [gone] = await tx.delete(issues).where(eq(issues.id, id)).returning()
  return gone
}

export async function addLabels(db: Db, issueId: number, labelIds: readonly number[]): Promise<void> {
  if (labelIds.length === 0) return
  await db
    .insert(issueLabels)
    .values(labelIds.map((labelId) => ({ issueId, labelId })))
    .onConflictDoNothing()
}

export async function removeLabels(db: Db, issueId: number, labelIds: readonly number[]): Promise<void> {
  if (labelIds.length === 0) return
  await db.delete(issueLabels).where(and(eq(issueLabels.issueId, issueId), anyOf(issueLabels.labelId, labelIds)))
}

/** Returns who came, and who went. */
export async function replaceAssignees(
  db: Db,
  issueId: number,
  userIds: readonly number[],
): Promise<{ added: number[]; removed: number[] }> {
  const rows = await db
    .delete(issueAssignees)
    .where(eq(issueAssignees.issueId, issueId))
    .returning({ userId: issueAssignees.userId })
  if (userIds.length > 0) await db.insert(issueAssignees).values(userIds.map((userId) => ({ issueId, userId })))
  const before = rows.map(({ userId }) => userId)
  return {
    added: userIds.filter((id) => !before.includes(id)),
    removed: before.filter((id) => !userIds.includes(id)),
  }
}

/** The labels, assignees and files of an issue. */
export async function findBelongings(tx: Db, issueId: number): Promise<IssueBelongings> {
  const [found] = await tx.execute<{ labelIds: number[]; assigneeIds: number[]; assets: AssetFacts[] }>(sql`
    select array(select label_id from ${issueLabels} where issue_id = ${issueId}::bigint order by label_id) as "labelIds",
      array(select user_id from ${issueAssignees} where issue_id = ${issueId}::bigint order by user_id) as "assigneeIds",
      coalesce((select json_agg(json_build_object('id', id, 'uuid', uuid, 'name', name, 'size', size,
        'downloadCount', download_count, 'createdAt', created_at) order by id)
        from ${attachments} where issue_id = ${issueId}::bigint), '[]') as assets`)
  if (found === undefined) throw new Error('the select returned no row')
  return found
}

/** What an event keeps of an issue, read in the transaction of the change. */
export async function readFacts(tx: Db, issue: IssueRow): Promise<IssueFacts> {
  return issueFacts(issue, await findBelongings(tx, issue.id))
}
