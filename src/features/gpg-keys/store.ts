import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type GpgKeyRow, gpgKeys } from '../../../db/schema/gpg-keys.ts'
import { emails } from '../../../db/schema/users.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

const primaryOf = (userId: number) => and(eq(gpgKeys.userId, userId), isNull(gpgKeys.primaryId))

/** Primary keys, in the order in which they were added. */
export async function listPrimaryKeys(db: Db, userId: number, page: Page): Promise<Paged<GpgKeyRow>> {
  const rows = db.select().from(gpgKeys).where(primaryOf(userId)).orderBy(asc(gpgKeys.id))
  const [found, total] = await Promise.all([
    rows.limit(page.limit).offset(page.offset),
    db.$count(gpgKeys, primaryOf(userId)),
  ])
  return numberedPage(page, { rows: found, total })
}

export async function findPrimaryKey(db: Db, userId: number, id: number): Promise<GpgKeyRow | undefined> {
  const [row] = await db
    .select()
    .from(gpgKeys)
    .where(and(primaryOf(userId), eq(gpgKeys.id, id)))
  return row
}

/** A person's key, or the one that the subkey belongs to. */
export async function findPrimaryKeyByKeyId(db: Db, userId: number, keyId: string): Promise<GpgKeyRow | undefined> {
  const [row] = await db
    .select()
    .from(gpgKeys)
    .where(and(eq(gpgKeys.userId, userId), eq(gpgKeys.keyId, keyId)))
    .orderBy(asc(gpgKeys.id))
  return row && row.primaryId !== null ? findPrimaryKey(db, userId, row.primaryId) : row
}

export function listSubkeys(db: Db, primaryIds: readonly number[]): Promise<GpgKeyRow[]> {
  if (primaryIds.length === 0) return Promise.resolve([])
  return db
    .select()
    .from(gpgKeys)
    .where(inArray(gpgKeys.primaryId, [...primaryIds]))
    .orderBy(asc(gpgKeys.id))
}

/** In lower case. */
export async function listConfirmedAddresses(db: Db, userId: number): Promise<Set<string>> {
  const rows = await db
    .select({ email: emails.lowerEmail })
    .from(emails)
    .where(and(eq(emails.userId, userId), eq(emails.isActivated, true)))
  return new Set(rows.map(({ email }) => email))
}

export async function insertGpgKeys(db: Db, keys: readonly (typeof gpgKeys.$inferInsert)[]): Promise<GpgKeyRow[]> {
  return keys.length === 0
    ? []
    : await db
        .insert(gpgKeys)
        .values([...keys])
        .returning()
}

export async function markVerified(db: Db, id: number): Promise<void> {
  await db.update(gpgKeys).set({ isVerified: true }).where(eq(gpgKeys.id, id))
}

/** Its subkeys go with it. Returns whether it was there. */
export async function removeGpgKey(db: Db, userId: number, id: number): Promise<boolean> {
  const gone = await db
    .delete(gpgKeys)
    .where(and(primaryOf(userId), eq(gpgKeys.id, id)))
    .returning({ id: gpgKeys.id })
  return gone.length > 0
}

export const countPrimaryKeys = (db: Db, userId: number): Promise<number> => db.$count(gpgKeys, primaryOf(userId))
