import { and, asc, eq, gt, lte, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type AuthSourceRow, authSources } from '../../../db/schema/auth-sources.ts'
import { type PendingIdentityRow, pendingIdentities } from '../../../db/schema/external-identities.ts'
import { users } from '../../../db/schema/users.ts'

export type NewSource = typeof authSources.$inferInsert
export type SourceChange = Partial<Omit<NewSource, 'id' | 'name' | 'createdAt' | 'updatedAt'>>

/** By its name in any letter case. */
export async function findSource(db: Db, name: string): Promise<AuthSourceRow | undefined> {
  const [row] = await db
    .select()
    .from(authSources)
    .where(eq(sql`lower(${authSources.name})`, name.toLowerCase()))
  return row
}

/** What somebody can sign in by now, by name. `MAX_SOURCES` bounds it. */
export const listActiveSources = (db: Db): Promise<AuthSourceRow[]> =>
  db.select().from(authSources).where(eq(authSources.isActive, true)).orderBy(asc(authSources.name))

/** All of them, each with the number of accounts that are of it. */
export const listSources = (db: Db): Promise<{ source: AuthSourceRow; accounts: number }[]> =>
  db
    .select({ source: authSources, accounts: db.$count(users, eq(users.sourceId, authSources.id)) })
    .from(authSources)
    .orderBy(asc(authSources.name))

export async function insertSource(tx: Db, values: NewSource): Promise<AuthSourceRow> {
  const [row] = await tx.insert(authSources).values(values).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

export const countSources = (db: Db): Promise<number> => db.$count(authSources)

export async function updateSource(tx: Db, id: number, change: SourceChange): Promise<AuthSourceRow | undefined> {
  const [row] = await tx
    .update(authSources)
    .set({ ...change, updatedAt: sql`clock_timestamp()` })
    .where(eq(authSources.id, id))
    .returning()
  return row
}

/** False when somebody was quicker. */
export async function removeSource(tx: Db, id: number): Promise<boolean> {
  const gone = await tx.delete(authSources).where(eq(authSources.id, id)).returning({ id: authSources.id })
  return gone.length > 0
}

/** Makes accounts of a source accounts of this site. @returns how many */
export async function releaseAccounts(tx: Db, sourceId: number): Promise<number> {
  const released = await tx
    .update(users)
    .set({ sourceId: null, loginName: '', updatedAt: sql`now()` })
    .where(eq(users.sourceId, sourceId))
  return released.count
}

export async function insertPending(db: Db, values: PendingIdentityRow): Promise<void> {
  await db.insert(pendingIdentities).values(values)
}

export interface Pending {
  pending: PendingIdentityRow
  source: AuthSourceRow
}

/** While it lasts, and its source is in use. */
export async function findPending(db: Db, handleHash: string, now: Date): Promise<Pending | undefined> {
  const alive = and(eq(pendingIdentities.handleHash, handleHash), gt(pendingIdentities.expiresAt, now))
  const [row] = await db
    .select({ pending: pendingIdentities, source: authSources })
    .from(pendingIdentities)
    .innerJoin(authSources, eq(authSources.id, pendingIdentities.sourceId))
    .where(and(alive, eq(authSources.isActive, true)))
  return row
}

/** False when it was taken already. */
export async function takePending(tx: Db, { handleHash }: PendingIdentityRow): Promise<boolean> {
  const gone = await tx
    .delete(pendingIdentities)
    .where(eq(pendingIdentities.handleHash, handleHash))
    .returning({ handleHash: pendingIdentities.handleHash })
  return gone.length > 0
}

export async function removePendingOf(tx: Db, sourceId: number): Promise<void> {
  await tx.delete(pendingIdentities).where(eq(pendingIdentities.sourceId, sourceId))
}

export async function removeExpiredPending(db: Db, now: Date): Promise<void> {
  await db.delete(pendingIdentities).where(lte(pendingIdentities.expiresAt, now))
}
