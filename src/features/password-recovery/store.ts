import { and, eq, gt, inArray, lte, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { passwordResets } from '../../../db/schema/account-links.ts'
import { type EmailRow, emails, type UserRow, users } from '../../../db/schema/users.ts'

/** Who may get a link at an address: it is confirmed, and the account may sign in with a password of its own. */
const mayRecover = and(
  eq(emails.isActivated, true),
  eq(users.kind, 'user'),
  eq(users.isActive, true),
  eq(users.prohibitLogin, false),
  eq(users.sourceId, 0),
)

export async function findRecoverable(db: Db, email: string): Promise<{ email: EmailRow; user: UserRow } | undefined> {
  const [row] = await db
    .select({ email: emails, user: users })
    .from(emails)
    .innerJoin(users, eq(users.id, emails.userId))
    .where(and(eq(emails.lowerEmail, sql`lower(${email})`), mayRecover))
  return row
}

export async function upsertReset(tx: Db, reset: typeof passwordResets.$inferInsert): Promise<void> {
  const { codeHash, expiresAt } = reset
  await tx
    .insert(passwordResets)
    .values(reset)
    .onConflictDoUpdate({ target: passwordResets.emailId, set: { codeHash, expiresAt } })
}

/** Whose password a link replaces, while it works. */
export async function findResetOwner(db: Db, codeHash: string, now: Date): Promise<UserRow | undefined> {
  const [row] = await db
    .select({ user: users })
    .from(passwordResets)
    .innerJoin(emails, eq(emails.id, passwordResets.emailId))
    .innerJoin(users, eq(users.id, emails.userId))
    .where(and(eq(passwordResets.codeHash, codeHash), gt(passwordResets.expiresAt, now), mayRecover))
  return row?.user
}

/** False when somebody was quicker. */
export async function removeReset(tx: Db, codeHash: string): Promise<boolean> {
  const gone = await tx
    .delete(passwordResets)
    .where(eq(passwordResets.codeHash, codeHash))
    .returning({ emailId: passwordResets.emailId })
  return gone.length > 0
}

/** After another password was set: no link that was mailed before replaces it. */
export async function removeResetsOf(tx: Db, userId: number): Promise<void> {
  const own = tx.select({ id: emails.id }).from(emails).where(eq(emails.userId, userId))
  await tx.delete(passwordResets).where(inArray(passwordResets.emailId, own))
}

export async function removeExpiredResets(db: Db, now: Date): Promise<void> {
  await db.delete(passwordResets).where(lte(passwordResets.expiresAt, now))
}
