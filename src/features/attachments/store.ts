import { and, asc, desc, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { type AttachmentRow, attachments } from '../../../db/schema/attachments.ts'
import { releases } from '../../../db/schema/releases.ts'

/** Files of one release. */
export interface AttachmentPlace {
  repositoryId: number
  releaseId: number
}

const within = ({ repositoryId, releaseId }: AttachmentPlace) =>
  and(eq(attachments.repositoryId, repositoryId), eq(attachments.releaseId, releaseId))

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

/** Of many releases, by the release; the oldest first. */
export async function listByRelease(
  db: Db,
  releaseIds: readonly number[],
): Promise<ReadonlyMap<number, VersionedAttachment[]>> {
  const found = new Map<number, VersionedAttachment[]>(releaseIds.map((id) => [id, []]))
  if (releaseIds.length === 0) return found
  const rows = await db
    .select({ attachment: attachments, version: rowVersion(attachments) })
    .from(attachments)
    .where(anyOf(attachments.releaseId, releaseIds))
    .orderBy(asc(attachments.id))
  for (const row of rows) if (row.attachment.releaseId !== null) found.get(row.attachment.releaseId)?.push(row)
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

/** @param uuid in the form of one */
export async function findByUuid(
  db: Db,
  uuid: string,
): Promise<{ attachment: AttachmentRow; isDraft: boolean } | undefined> {
  const [row] = await db
    .select({ attachment: attachments, isDraft: releases.isDraft })
    .from(attachments)
    .innerJoin(releases, eq(releases.id, attachments.releaseId))
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
