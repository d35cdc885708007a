import { and, asc, eq, gt } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type LfsLockRow, lfsLocks } from '../../../db/schema/lfs.ts'
import { users } from '../../../db/schema/users.ts'

export interface OwnedLock {
  lock: LfsLockRow
  ownerName: string
}

export interface LockFilter {
  repositoryId: number
  path?: string | undefined
  id?: number | undefined
}

const matching = ({ repositoryId, path, id }: LockFilter) =>
  and(
    eq(lfsLocks.repositoryId, repositoryId),
    path === undefined ? undefined : eq(lfsLocks.path, path),
    id === undefined ? undefined : eq(lfsLocks.id, id),
  )

const owned = (db: Db) =>
  db.select({ lock: lfsLocks, ownerName: users.name }).from(lfsLocks).innerJoin(users, eq(users.id, lfsLocks.ownerId))

/** In the order in which they were made, from behind the id `after`. */
export function listLocks(
  db: Db,
  { after, limit, ...filter }: LockFilter & { after: number; limit: number },
): Promise<OwnedLock[]> {
  return owned(db)
    .where(and(matching(filter), gt(lfsLocks.id, after)))
    .orderBy(asc(lfsLocks.id))
    .limit(limit)
}

export async function findLock(db: Db, filter: LockFilter): Promise<OwnedLock | undefined> {
  const [found] = await owned(db).where(matching(filter)).limit(1)
  return found
}

export const countLocks = (db: Db, repositoryId: number): Promise<number> =>
  db.$count(lfsLocks, eq(lfsLocks.repositoryId, repositoryId))

/** Undefined where the path is locked. */
export async function insertLock(tx: Db, lock: typeof lfsLocks.$inferInsert): Promise<LfsLockRow | undefined> {
  const [row] = await tx
    .insert(lfsLocks)
    .values(lock)
    .onConflictDoNothing({ target: [lfsLocks.repositoryId, lfsLocks.path] })
    .returning()
  return row
}

/** @param ownerId removes it only while it is this person's. Returns whether it was there. */
export async function removeLock(
  db: Db,
  { repositoryId, id, ownerId }: { repositoryId: number; id: number; ownerId?: number | undefined },
): Promise<boolean> {
  const rows = await db
    .delete(lfsLocks)
    .where(and(matching({ repositoryId, id }), ownerId === undefined ? undefined : eq(lfsLocks.ownerId, ownerId)))
    .returning({ id: lfsLocks.id })
  return rows.length > 0
}
