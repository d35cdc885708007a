import { and, eq, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { type CommentRow, comments, issues } from '../../../db/schema/issues.ts'
import { users } from '../../../db/schema/users.ts'
import { type TimeRange, within } from '../../../db/time-range.ts'
import { readableKinds } from '../../access/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import type { ShownComment } from '../../wire/comment.ts'
import { listByParent } from '../attachments/store.ts'

export interface FoundComment extends ShownComment {
  issue: ShownComment['issue'] & { posterId: number | null }
  /** Changes with every row that the comment's shape is made of. */
  version: string
}

const writtenAt: SortKey = { key: comments.createdAt, type: 'timestamptz' }
const oldestFirst: SortKey[] = [writtenAt, { key: comments.id, type: 'bigint' }]

const columns = {
  comment: comments,
  poster: users,
  issue: { number: issues.number, isPull: issues.isPull, posterId: issues.posterId },
  version: sql<string>`${rowVersion(comments)} || ' ' || coalesce(${rowVersion(users)}, '')`,
  at: positionText(writtenAt),
}

/** What people wrote. What happened to an issue is stored in the same table and has no place in these lists. */
const written = (scope: SQL | undefined, range: TimeRange): SQL | undefined =>
  and(scope, eq(comments.kind, 'comment'), within(comments.updatedAt, range))

const select = (db: Db) =>
  db
    .select(columns)
    .from(comments)
    .innerJoin(issues, eq(issues.id, comments.issueId))
    .leftJoin(users, eq(users.id, comments.posterId))

/** All comments of an issue, oldest first, at most `limit`. */
export async function listIssueComments(
  db: Db,
  issueId: number,
  range: TimeRange,
  limit: number,
): Promise<Paged<FoundComment>> {
  const matching = written(eq(comments.issueId, issueId), range)
  const rows = await select(db).where(matching).orderBy(inOrder(oldestFirst)).limit(limit)
  const total = rows.length < limit ? rows.length : await db.$count(comments, matching)
  return { rows: await withFiles(db, rows), total }
}

/** Those on issues and on pull requests, as far as the reader may read either. */
export async function listRepositoryComments(
  db: Db,
  { repository, rights }: RepositoryAccess,
  range: TimeRange,
  page: Page,
): Promise<Paged<FoundComment>> {
  const matching = written(and(eq(issues.repositoryId, repository.id), readableKinds(rights)), range)
  const ordered = select(db)
    .where(and(matching, afterPosition(oldestFirst, page.after)))
    .orderBy(inOrder(oldestFirst))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const count = db
    .select({ total: sql<number>`count(*)` })
    .from(comments)
    .innerJoin(issues, eq(issues.id, comments.issueId))
    .where(matching)
  const [rows, [counted]] = await Promise.all([ordered, count])
  const found = cutPage(page, { rows, total: counted?.total ?? 0 }, ({ at, comment }) => [at, String(comment.id)])
  return { ...found, rows: await withFiles(db, found.rows) }
}

/** A comment of an issue of this repository, or what happened to one: they share their numbers. */
export async function findComment(db: Db, repositoryId: number, id: number): Promise<FoundComment | undefined> {
  const rows = await select(db).where(and(eq(comments.id, id), eq(issues.repositoryId, repositoryId)))
  const [found] = await withFiles(db, rows)
  return found
}

/** Whoever asks has found out that the reader may see them. */
export async function findCommentsById(db: Db, ids: readonly number[]): Promise<FoundComment[]> {
  if (ids.length === 0) return []
  return withFiles(db, await select(db).where(and(anyOf(comments.id, ids), eq(comments.kind, 'comment'))))
}

/** The issue counts as changed. */
export async function insertComment(db: Db, comment: typeof comments.$inferInsert): Promise<CommentRow> {
  const [row] = await db.insert(comments).values(comment).returning()
  if (row === undefined) throw new Error('insert returned no row')
  await db.update(issues).set({ updatedAt: row.createdAt }).where(eq(issues.id, row.issueId))
  return row
}

/** Locks the row, so that two edits follow each other. Undefined for a comment that is gone. */
export async function lockComment(tx: Db, id: number): Promise<CommentRow | undefined> {
  const [row] = await tx.select().from(comments).where(eq(comments.id, id)).for('no key update')
  return row
}

export async function updateComment(tx: Db, id: number, change: Partial<CommentRow>): Promise<CommentRow> {
  const [row] = await tx.update(comments).set(change).where(eq(comments.id, id)).returning()
  if (row === undefined) throw new Error(`comment ${id} is gone`)
  return row
}

/** Returns the row as it was in the end; undefined when somebody else was quicker. */
export async function removeComment(tx: Db, id: number): Promise<CommentRow | undefined> {
  const [gone] = await tx.delete(comments).where(eq(comments.id, id)).returning()
  return gone
}

type Row = Awaited<ReturnType<typeof select>>[number]

async function withFiles(db: Db, rows: readonly Row[]): Promise<FoundComment[]> {
  const ids = rows.map(({ comment }) => comment.id)
  const files = await listByParent(db, 'commentId', ids)
  return rows.map(({ poster, at: _, version, ...row }) => {
    const attached = files.get(row.comment.id) ?? []
    return {
      ...row,
      poster: poster ?? undefined,
      assets: attached.map(({ attachment }) => attachment),
      version: [version, ...attached.map((file) => file.version)].join(),
    }
  })
}
