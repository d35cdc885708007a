import { and, asc, eq, lt, lte, or, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type PasskeyRow, passkeys, usedChallenges } from '../../../db/schema/passkeys.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { sha256Hex } from '../../kernel/hashing.ts'

/** All of a person's, in the order in which they were added. */
export function listPasskeys(db: Db, userId: number): Promise<PasskeyRow[]> {
  return db.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(asc(passkeys.id))
}

export const countPasskeys = (db: Db, userId: number): Promise<number> =>
  db.$count(passkeys, eq(passkeys.userId, userId))

export async function findPasskey(
  db: Db,
  credentialId: string,
): Promise<{ passkey: PasskeyRow; user: UserRow } | undefined> {
  const [row] = await db
    .select({ passkey: passkeys, user: users })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.credentialId, credentialId))
  return row
}

export async function insertPasskey(tx: Db, passkey: typeof passkeys.$inferInsert): Promise<PasskeyRow> {
  const [row] = await tx.insert(passkeys).values(passkey).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

export async function removePasskey(tx: Db, userId: number, id: number): Promise<PasskeyRow | undefined> {
  const [row] = await tx
    .delete(passkeys)
    .where(and(eq(passkeys.userId, userId), eq(passkeys.id, id)))
    .returning()
  return row
}

/** False when a signature with this count or a later one was seen already: then the device was copied (WebAuthn, 6.1.1). */
export async function recordSignature(
  tx: Db,
  id: number,
  { count, now }: { count: number; now: Date },
): Promise<boolean> {
  const neverCounts = and(eq(passkeys.signCount, 0), sql`${count} = 0`)
  const rows = await tx
    .update(passkeys)
    .set({ signCount: count, lastUsedAt: now })
    .where(and(eq(passkeys.id, id), or(neverCounts, lt(passkeys.signCount, count))))
    .returning({ id: passkeys.id })
  return rows.length > 0
}

/** False when it was answered already. */
export async function takeChallenge(tx: Db, challenge: string, expiresAt: Date): Promise<boolean> {
  const rows = await tx
    .insert(usedChallenges)
    .values({ challengeHash: sha256Hex(challenge), expiresAt })
    .onConflictDoNothing()
    .returning({ challengeHash: usedChallenges.challengeHash })
  return rows.length > 0
}

export async function removeExpiredChallenges(db: Db, now: Date): Promise<void> {
  await db.delete(usedChallenges).where(lte(usedChallenges.expiresAt, now))
}
