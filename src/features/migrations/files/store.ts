import { and, asc, count, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../../../db/client.ts'
import {
  type FileFault,
  type MigrationFileRow,
  migrationFiles,
  migrationParts,
} from '../../../../db/schema/migrations.ts'
import { releases } from '../../../../db/schema/releases.ts'

export interface NewFile {
  releaseId: number
  name: string
  url: string
  size: number
  downloadCount: number
  createdAt: Date
  fault: FileFault | null
}

/** Notes them, and returns how many there are now in all releases. */
export async function insertFiles(tx: Db, repositoryId: number, files: readonly NewFile[]): Promise<number> {
  await tx.execute(sql`
    insert into ${migrationFiles} (repository_id, release_id, name, url, size, download_count, created_at, fault)
    select ${repositoryId}::bigint, "releaseId", name, url, size, "downloadCount", "createdAt", fault
    from json_to_recordset(${JSON.stringify(files)}::text::json) as given("releaseId" bigint, name text, url text, size bigint,
      "downloadCount" bigint, "createdAt" timestamptz, fault text)`)
  const [part] = await tx
    .update(migrationParts)
    .set({
      seen: sql`${migrationParts.seen} + ${files.length}`,
      total: sql`coalesce(${migrationParts.total}, 0) + ${files.length}`,
    })
    .where(and(eq(migrationParts.repositoryId, repositoryId), eq(migrationParts.name, 'release_files')))
    .returning({ seen: migrationParts.seen })
  if (!part) throw new Error('files were noted for a migration that brings none')
  return part.seen
}

/** The oldest that is still to come. */
export async function findOpenFile(db: Db, repositoryId: number): Promise<MigrationFileRow | undefined> {
  const [row] = await db
    .select()
    .from(migrationFiles)
    .where(and(eq(migrationFiles.repositoryId, repositoryId), isNull(migrationFiles.fault)))
    .orderBy(asc(migrationFiles.id))
    .limit(1)
  return row
}

/** The release is not deleted before the transaction ends. False when it is gone. Before its notes, as who deletes it does. */
export async function holdRelease(tx: Db, id: number): Promise<boolean> {
  const rows = await tx.select({ id: releases.id }).from(releases).where(eq(releases.id, id)).for('key share')
  return rows.length > 0
}

/** False where it is gone, with its release or because another attempt has brought it. */
export async function removeFile(tx: Db, id: number): Promise<boolean> {
  const rows = await tx.delete(migrationFiles).where(eq(migrationFiles.id, id)).returning({ id: migrationFiles.id })
  return rows.length > 0
}

export async function leaveFile(tx: Db, id: number, fault: FileFault): Promise<void> {
  await tx.update(migrationFiles).set({ fault }).where(eq(migrationFiles.id, id))
}

/** Counts a try that broke off, and returns how many there were. */
export async function countTry(tx: Db, id: number): Promise<number> {
  const [row] = await tx
    .update(migrationFiles)
    .set({ tries: sql`${migrationFiles.tries} + 1` })
    .where(eq(migrationFiles.id, id))
    .returning({ tries: migrationFiles.tries })
  return row?.tries ?? 0
}

/** How many do not come, by the reason. */
export const countFaults = (tx: Db, repositoryId: number): Promise<{ fault: FileFault | null; files: number }[]> =>
  tx
    .select({ fault: migrationFiles.fault, files: count() })
    .from(migrationFiles)
    .where(and(eq(migrationFiles.repositoryId, repositoryId), isNotNull(migrationFiles.fault)))
    .groupBy(migrationFiles.fault)
    .orderBy(migrationFiles.fault)

export async function removeFiles(tx: Db, repositoryId: number): Promise<void> {
  await tx.delete(migrationFiles).where(eq(migrationFiles.repositoryId, repositoryId))
}
