import { and, asc, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { type Db, prepared } from '../../../db/client.ts'
import { type PublicKeyRow, publicKeys } from '../../../db/schema/credentials.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

export async function listKeys(
  db: Db,
  userId: number,
  { fingerprint, page }: { fingerprint: string | undefined; page: Page },
): Promise<Paged<PublicKeyRow>> {
  const wanted = and(
    eq(publicKeys.userId, userId),
    fingerprint === undefined ? undefined : eq(publicKeys.fingerprint, fingerprint),
  )
  const oldestFirst = db.select().from(publicKeys).where(wanted).orderBy(asc(publicKeys.id))
  const [rows, total] = await Promise.all([
    oldestFirst.limit(page.limit).offset(page.offset),
    db.$count(publicKeys, wanted),
  ])
  return numberedPage(page, { rows, total })
}

/** All of a person's, in the order in which they were added; there are MAX_OWNED at most. */
export function listAllKeys(db: Db, userId: number): Promise<PublicKeyRow[]> {
  return db.select().from(publicKeys).where(eq(publicKeys.userId, userId)).orderBy(asc(publicKeys.id))
}

export async function findKey(db: Db, id: number): Promise<{ key: PublicKeyRow; owner: UserRow } | undefined> {
  const [row] = await db
    .select({ key: publicKeys, owner: users })
    .from(publicKeys)
    .innerJoin(users, eq(users.id, publicKeys.userId))
    .where(eq(publicKeys.id, id))
  return row
}

const byFingerprint = prepared((db) =>
  db
    .select({ key: publicKeys, owner: users })
    .from(publicKeys)
    .leftJoin(users, eq(users.id, publicKeys.userId))
    .where(eq(publicKeys.fingerprint, sql.placeholder('fingerprint')))
    .prepare('public_key_by_fingerprint'),
)

/** With its owner, where it is the key of an account. */
export async function findKeyByFingerprint(
  db: Db,
  fingerprint: string,
): Promise<{ key: PublicKeyRow; owner: UserRow | undefined } | undefined> {
  const [row] = await byFingerprint(db).execute({ fingerprint })
  return row && { key: row.key, owner: row.owner ?? undefined }
}

/** Unless it was recorded after `since` already. */
export async function updateLastUse(db: Db, id: number, { now, since }: { now: Date; since: Date }): Promise<void> {
  const isOlder = or(isNull(publicKeys.lastUsedAt), lte(publicKeys.lastUsedAt, since))
  await db
    .update(publicKeys)
    .set({ lastUsedAt: now })
    .where(and(eq(publicKeys.id, id), isOlder))
}

export async function insertKey(db: Db, key: typeof publicKeys.$inferInsert): Promise<PublicKeyRow> {
  const [row] = await db.insert(publicKeys).values(key).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

/** False when somebody else was quicker. */
export async function removeKey(db: Db, userId: number, id: number): Promise<boolean> {
  const gone = await db
    .delete(publicKeys)
    .where(and(eq(publicKeys.userId, userId), eq(publicKeys.id, id)))
    .returning({ id: publicKeys.id })
  return gone.length > 0
}

export const countKeys = (db: Db, userId: number): Promise<number> =>
  db.$count(publicKeys, eq(publicKeys.userId, userId))
