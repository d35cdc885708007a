import { and, asc, eq, inArray, isNull, ne, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type GpgKeyRow, gpgKeys } from '../../../db/schema/gpg-keys.ts'
import { emails, users } from '../../../db/schema/users.ts'
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

/** What each of a person's keys was taken with, in the order in which they were added; there are MAX_OWNED at most. */
export async function listCertificates(db: Db, userId: number): Promise<Uint8Array[]> {
  const certificates = db.select({ certificate: gpgKeys.certificate }).from(gpgKeys)
  const rows = await certificates.where(primaryOf(userId)).orderBy(asc(gpgKeys.id))
  return rows.flatMap(({ certificate }) => certificate ?? [])
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
  return db.select().from(gpgKeys).where(anyOf(gpgKeys.primaryId, primaryIds)).orderBy(asc(gpgKeys.id))
}

/** In lower case; those that say whose key it is. */
export async function listProvenAddresses(db: Db, userId: number): Promise<Set<string>> {
  const rows = await db
    .select({ email: emails.lowerEmail })
    .from(emails)
    .where(and(eq(emails.userId, userId), eq(emails.isActivated, true), eq(emails.isProven, true)))
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

/** False for a key that is verified already, or gone. */
export async function markVerified(db: Db, id: number): Promise<boolean> {
  const marked = await db
    .update(gpgKeys)
    .set({ isVerified: true })
    .where(and(eq(gpgKeys.id, id), eq(gpgKeys.isVerified, false)))
    .returning({ id: gpgKeys.id })
  return marked.length > 0
}

export interface ClaimedKey {
  row: GpgKeyRow
  ownerName: string
}

/**
 * Removes keys that other accounts hold without a proof: these keys themselves, and keys that one of these is a signing subkey of. They
 * are locked first, so that a key that its holder proves meanwhile stays.
 */
export async function removeClaims(
  tx: Db,
  userId: number,
  keys: readonly Pick<GpgKeyRow, 'keyId' | 'fingerprint'>[],
): Promise<ClaimedKey[]> {
  const keyIds = keys.map(({ keyId }) => keyId)
  const fingerprints = keys.map(({ fingerprint }) => fingerprint)
  const same = tx
    .select({ id: sql<number>`coalesce(${gpgKeys.primaryId}, ${gpgKeys.id})` })
    .from(gpgKeys)
    .where(
      and(
        anyOf(gpgKeys.keyId, keyIds),
        anyOf(gpgKeys.fingerprint, fingerprints),
        // In the words of the partial index.
        sql`(${gpgKeys.primaryId} is null or ${gpgKeys.canSign})`,
      ),
    )
  const claims = await tx
    .select({ row: gpgKeys, ownerName: users.name })
    .from(gpgKeys)
    .innerJoin(users, eq(users.id, gpgKeys.userId))
    .where(and(inArray(gpgKeys.id, same), ne(gpgKeys.userId, userId), eq(gpgKeys.isVerified, false)))
    .orderBy(asc(gpgKeys.id))
    .for('update', { of: gpgKeys })
  const ids = claims.map(({ row }) => row.id)
  if (ids.length > 0) await tx.delete(gpgKeys).where(anyOf(gpgKeys.id, ids))
  return claims
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
