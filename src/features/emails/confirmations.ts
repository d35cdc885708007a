import { and, asc, eq, gt, lte, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type EmailRow, emailConfirmations, emails, type UserRow, users } from '../../../db/schema/users.ts'

export interface WaitingEmail {
  email: EmailRow
  owner: Pick<UserRow, 'id' | 'name'>
}

/** The address that a link is for, while the link works. */
export async function findWaitingEmail(db: Db, codeHash: string, now: Date): Promise<WaitingEmail | undefined> {
  const [found] = await db
    .select({ email: emails, owner: { id: users.id, name: users.name } })
    .from(emailConfirmations)
    .innerJoin(emails, eq(emails.id, emailConfirmations.emailId))
    .innerJoin(users, eq(users.id, emails.userId))
    .where(and(eq(emailConfirmations.codeHash, codeHash), gt(emailConfirmations.expiresAt, now)))
  return found
}

export interface NewConfirmation {
  emailId: number
  codeHash: string
  expiresAt: Date
}

/** A new link takes the place of the one before. */
export async function upsertConfirmations(db: Db, values: NewConfirmation[]): Promise<void> {
  await db
    .insert(emailConfirmations)
    .values(values)
    .onConflictDoUpdate({
      target: emailConfirmations.emailId,
      set: { codeHash: sql`excluded.code_hash`, expiresAt: sql`excluded.expires_at` },
    })
}

/** Addresses are locked before their links, as whoever asks for a new link does it: nobody waits in a circle. */
export async function lockEmail(tx: Db, id: number): Promise<void> {
  await tx.select({ id: emails.id }).from(emails).where(eq(emails.id, id)).for('update')
}

/** Whether the link was still there: of two that follow it at once, one finds it. */
export async function removeConfirmation(db: Db, codeHash: string): Promise<boolean> {
  const gone = await db.delete(emailConfirmations).where(eq(emailConfirmations.codeHash, codeHash)).returning()
  return gone.length > 0
}

/** Whether the address was one that waited. */
export async function activateEmail(db: Db, id: number): Promise<boolean> {
  const waits = and(eq(emails.id, id), eq(emails.isActivated, false))
  const rows = await db
    .update(emails)
    .set({ isActivated: true, isProven: true })
    .where(waits)
    .returning({ id: emails.id })
  return rows.length > 0
}

/** Removes links that work no more, and the addresses that waited for them; returns how many addresses. */
export async function removeExpired(tx: Db, now: Date): Promise<number> {
  const isExpired = lte(emailConfirmations.expiresAt, now)
  const found = await tx
    .select({ id: emails.id })
    .from(emails)
    .innerJoin(emailConfirmations, eq(emailConfirmations.emailId, emails.id))
    .where(isExpired)
    .orderBy(asc(emails.id))
    .for('update', { of: emails })
  const locked = anyOf(
    emailConfirmations.emailId,
    found.map(({ id }) => id),
  )
  const gone = await tx.delete(emailConfirmations).where(and(locked, isExpired)).returning()
  const ids = gone.map(({ emailId }) => emailId)
  const waits = and(anyOf(emails.id, ids), eq(emails.isActivated, false))
  return (await tx.delete(emails).where(waits)).count
}
