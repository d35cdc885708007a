import { and, asc, desc, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { type AttachmentRow, attachments } from '../../../db/schema/attachments.ts'
import { comments, issues } from '../../../db/schema/issues.ts'
import { releases } from '../../../db/schema/releases.ts'
import { repositories } from '../../../db/schema/repositories.ts'

/** The release, issue or comment that files belong to. */
export type AttachmentPlace = { repositoryId: number } & (
  | { releaseId: number }
  | { issueId: number }
  | { commentId: number }
)

const within = (place: AttachmentPlace) => and(eq(attachments.repositoryId, place.repositoryId), isOf(place))

function isOf(place: AttachmentPlace) {
  if ('releaseId' in place) return eq(attachments.releaseId, place.releaseId)
  return 'issueId' in place ? eq(attachments.issueId, place.issueId) : eq(attachments.commentId, place.commentId)
}

/** Whether the repository is there. Who deletes it waits, or was first: it is locked before what belongs to it, as everywhere. */
export async function holdRepository(tx: Db, id: number): Promise<boolean> {
  const rows = await tx
    .select({ id: repositories.id })
    .from(repositories)
    .where(eq(repositories.id, id))
    .for('key share')
  return rows.length > 0
}

export async function insertAttachment(tx: Db, values: typeof attachments.$inferInsert): Promise<AttachmentRow> {
  const [row] = await tx.insert(attachments).values(values).returning()
  if (!row) throw new Error('insert returned no row')
  return row
}

/** The oldest first. */
export const listAttachments = (db: Db, place: AttachmentPlace): Promise<AttachmentRow[]> =>
  db.select().from(attachments).where(within(place)).orderBy(asc(attachments.id))

export const countAttachments = (db: Db, place: AttachmentPlace): Promise<number> =>
  db.$count(attachments, within(place))

export interface VersionedAttachment {
  attachment: AttachmentRow
  version: string
}

/** Files of many releases, issues or comments in one statement, by what they belong to; the oldest first. */
export async function listByParent(
  db: Db,
  parent: 'releaseId' | 'issueId' | 'commentId',
  ids: readonly number[],
): Promise<ReadonlyMap<number, VersionedAttachment[]>> {
  const found = new Map<number, VersionedAttachment[]>(ids.map((id) => [id, []]))
  if (ids.length === 0) return found
  const rows = await db
    .select({ attachment: attachments, version: rowVersion(attachments) })
    .from(attachments)
    .where(anyOf(attachments[parent], ids))
    .orderBy(asc(attachments.id))
  for (const row of rows) {
    const id = row.attachment[parent]
    if (id !== null) found.get(id)?.push(row)
  }
  return found
}

export async function findAttachment(
  db: Db,
  place: AttachmentPlace,
  wanted: { id: number } | { name: string },
): Promise<AttachmentRow | undefined> {
  const which = 'id' in wanted ? eq(attachments.id, wanted.id) : eq(attachments.name, wanted.name)
  // Of several with one name the newest.
  const newest = desc(attachments.id)
  const [row] = await db
    .select()
    .from(attachments)
    .where(and(within(place), which))
    .orderBy(newest)
    .limit(1)
  return row
}

/** A file with what decides who may read it: the state of its release, or the kind of its issue. */
export interface LocatedAttachment {
  attachment: AttachmentRow
  isDraft: boolean | null
  isPull: boolean | null
}

/** @param uuid in the form of one */
export async function findByUuid(db: Db, uuid: string): Promise<LocatedAttachment | undefined> {
  const [row] = await db
    .select({ attachment: attachments, isDraft: releases.isDraft, isPull: issues.isPull })
    .from(attachments)
    .leftJoin(releases, eq(releases.id, attachments.releaseId))
    .leftJoin(comments, eq(comments.id, attachments.commentId))
    .leftJoin(issues, sql`${issues.id} = coalesce(${attachments.issueId}, ${comments.issueId})`)
    .where(eq(attachments.uuid, uuid))
  return row
}

export async function renameAttachment(
  db: Db,
  place: AttachmentPlace,
  { id, name }: { id: number; name: string },
): Promise<AttachmentRow | undefined> {
  const at = and(within(place), eq(attachments.id, id))
  const [row] = await db.update(attachments).set({ name }).where(at).returning()
  return row
}

export async function removeAttachment(db: Db, place: AttachmentPlace, id: number): Promise<boolean> {
  const at = and(within(place), eq(attachments.id, id))
  const rows = await db.delete(attachments).where(at).returning({ id: attachments.id })
  return rows.length > 0
}

export async function countDownload(db: Db, id: number): Promise<void> {
  await db
    .update(attachments)
    .set({ downloadCount: sql`${attachments.downloadCount} + 1` })
    .where(eq(attachments.id, id))
}

/** Those of the uuids that rows have. */
export async function listKnown(db: Db, uuids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.select({ uuid: attachments.uuid }).from(attachments).where(anyOf(attachments.uuid, uuids))
  return new Set(rows.map(({ uuid }) => uuid))
}
