import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { recoveryCodes, twoFactors } from '../../../db/schema/credentials.ts'

type TwoFactorRow = typeof twoFactors.$inferSelect

export async function findTwoFactor(db: Db, userId: number): Promise<TwoFactorRow | undefined> {
  const [row] = await db.select().from(twoFactors).where(eq(twoFactors.userId, userId))
  return row
}

/** Begins an enrolment, in place of one that was not confirmed; false when a confirmed one is there. */
export async function upsertEnrolment(db: Db, userId: number, secret: Uint8Array): Promise<boolean> {
  const rows = await db
    .insert(twoFactors)
    .values({ userId, secret })
    .onConflictDoUpdate({
      target: twoFactors.userId,
      set: { secret, lastStep: 0, createdAt: sql`now()` },
      setWhere: isNull(twoFactors.confirmedAt),
    })
    .returning({ userId: twoFactors.userId })
  return rows.length > 0
}

/** The same, locked: nobody confirms it, or begins it again, until the transaction has ended. */
export async function lockEnrolment(tx: Db, userId: number): Promise<TwoFactorRow | undefined> {
  const [row] = await tx.select().from(twoFactors).where(eq(twoFactors.userId, userId)).for('no key update')
  return row
}

/**
 * Confirms the enrolment that `lockEnrolment` locked.
 * @param step that of the code which confirms it, used up by this
 */
export async function confirmEnrolment(
  tx: Db,
  userId: number,
  { at, step }: { at: Date; step: number },
): Promise<void> {
  await tx.update(twoFactors).set({ confirmedAt: at, lastStep: step }).where(eq(twoFactors.userId, userId))
}

/** False when it is off. The enrolment goes first: it is the lock of the recovery codes. */
export async function removeTwoFactor(db: Db, userId: number): Promise<boolean> {
  const gone = await db
    .delete(twoFactors)
    .where(and(eq(twoFactors.userId, userId), isNotNull(twoFactors.confirmedAt)))
    .returning({ userId: twoFactors.userId })
  if (gone.length === 0) return false
  await db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  return true
}

/** Of two who replace the codes at once, both would find only the old ones to delete. False when it is off by now. */
export async function lockTwoFactor(tx: Db, userId: number): Promise<boolean> {
  const rows = await tx
    .select({ userId: twoFactors.userId })
    .from(twoFactors)
    .where(and(eq(twoFactors.userId, userId), isNotNull(twoFactors.confirmedAt)))
    .for('no key update')
  return rows.length > 0
}

export async function replaceRecoveryCodes(db: Db, userId: number, hashes: readonly string[]): Promise<void> {
  await db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  await db.insert(recoveryCodes).values(hashes.map((codeHash) => ({ userId, codeHash })))
}

export const countUnusedCodes = (db: Db, userId: number): Promise<number> =>
  db.$count(recoveryCodes, and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.usedAt)))
