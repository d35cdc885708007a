import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type ActivityRow, activities } from '../../../db/schema/activity.ts'
import { comments, issues } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import type { ShownComment } from '../../wire/comment.ts'
import { listByParent } from '../attachments/store.ts'
import type { Operation } from './kinds.ts'

export interface NewActivity extends Operation {
  eventId: number
  actorId: number
  repositoryId: number
  createdAt: Date
}

/** Writes those that are not there already, in their order, and none whose subject has gone meanwhile. */
export async function insertActivities(db: Db, all: readonly NewActivity[]): Promise<void> {
  if (all.length === 0) return
  await db.execute(sql`
    insert into ${activities}
      (event_id, actor_id, owner_id, repository_id, op_type, ref_name, issue_id, comment_id, content, created_at)
    select made."eventId", ${users.id}, ${repositories.ownerId}, ${repositories.id}, made."opType",
      coalesce(made."refName", ''), made."issueId", made."commentId", coalesce(made.content, ''), made."createdAt"
    -- The limit tells PostgreSQL how many there are: of JSON it expects a hundred, and would read whole tables for them.
    from (
      select * from json_to_recordset(${JSON.stringify(all)}::text::json) as given(
        "eventId" bigint, "actorId" bigint, "repositoryId" bigint, "createdAt" timestamptz, "opType" text,
        "refName" text, "issueId" bigint, "commentId" bigint, content text)
      limit ${all.length}) as made
    join ${repositories} on ${repositories.id} = made."repositoryId"
    join ${users} on ${users.id} = made."actorId"
    left join ${issues} on ${issues.id} = made."issueId"
    left join ${comments} on ${comments.id} = made."commentId"
    where (made."issueId" is null or ${issues.id} is not null) and (made."commentId" is null or ${comments.id} is not null)
    order by made."eventId"
    on conflict do nothing`)
}

/** The records of a repository stand in the feed of whoever owns it now. */
export async function followOwner(db: Db, repositoryId: number): Promise<void> {
  const owner = db.select({ id: repositories.ownerId }).from(repositories).where(eq(repositories.id, repositoryId))
  await db
    .update(activities)
    .set({ ownerId: sql`(${owner})` })
    .where(and(eq(activities.repositoryId, repositoryId), sql`exists (${owner})`))
}

export async function findFullNames(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .select({ id: repositories.id, owner: users.name, name: repositories.name })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(anyOf(repositories.id, [...new Set(ids)]))
  return new Map(rows.map(({ id, owner, name }) => [id, `${owner}/${name}`]))
}

/** In the order of the ids. */
export async function loadActivityRows(db: Db, ids: readonly number[]): Promise<ActivityRow[]> {
  if (ids.length === 0) return []
  const rows = await db.select().from(activities).where(anyOf(activities.id, ids))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export async function loadActors(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, UserRow>> {
  if (ids.length === 0) return new Map()
  const rows = await db.select().from(users).where(anyOf(users.id, ids))
  return new Map(rows.map((row) => [row.id, row]))
}

export interface NamedIssue {
  id: number
  number: number
  title: string
  isPull: boolean
}

export async function loadIssueTitles(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, NamedIssue>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .select({ id: issues.id, number: issues.number, title: issues.title, isPull: issues.isPull })
    .from(issues)
    .where(anyOf(issues.id, ids))
  return new Map(rows.map((row) => [row.id, row]))
}

export async function loadComments(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, ShownComment>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .select({ comment: comments, poster: users, issue: { number: issues.number, isPull: issues.isPull } })
    .from(comments)
    .innerJoin(issues, eq(issues.id, comments.issueId))
    .leftJoin(users, eq(users.id, comments.posterId))
    .where(anyOf(comments.id, ids))
  const files = await listByParent(db, 'commentId', ids)
  const filesOf = (id: number) => (files.get(id) ?? []).map(({ attachment }) => attachment)
  return new Map(
    rows.map((row) => [row.comment.id, { ...row, poster: row.poster ?? undefined, assets: filesOf(row.comment.id) }]),
  )
}

/** Deletes records made before `before`, at most `limit` of them, and returns how many. */
export async function removeOldActivities(db: Db, before: Date, limit: number): Promise<number> {
  const oldest = db
    .select({ id: activities.id })
    .from(activities)
    .where(lt(activities.createdAt, before))
    .orderBy(asc(activities.createdAt))
    .limit(limit)
  const gone = await db.delete(activities).where(inArray(activities.id, oldest))
  return gone.count
}
