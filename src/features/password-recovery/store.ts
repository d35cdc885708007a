import { and, eq, gt, inArray, isNull, lte, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { passwordResets } from '../../../db/schema/account-links.ts'
import { type AuthSourceRow, authSources } from '../../../db/schema/auth-sources.ts'
import { type EmailRow, emails, type UserRow, users } from '../../../db/schema/users.ts'

/** Who may get a mail at an address: it is confirmed, and the account may sign in. */
const mayEnter = and(
  eq(emails.isActivated, true),
  eq(users.kind, 'user'),
  eq(users.isActive, true),
  eq(users.prohibitLogin, false),
)

/** Whose password can be replaced: an account of a source has none, unless its owner has chosen one. */
const hasOwnPassword = or(isNull(users.sourceId), ne(users.passwordHash, ''))

export interface Recoverable {
  email: EmailRow
  user: UserRow
  /** Where the person signs in, if that is not here. */
  source: AuthSourceRow | null
}

export async function findRecoverable(db: Db, email: string): Promise<Recoverable | undefined> {
  const [row] = await db
    .select({ email: emails, user: users, source: authSources })
    .from(emails)
    .innerJoin(users, eq(users.id, emails.userId))
    .leftJoin(authSources, eq(authSources.id, users.sourceId))
    .where(and(eq(emails.lowerEmail, sql`lower(${email})`), mayEnter))
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
    .where(and(eq(passwordResets.codeHash, codeHash), gt(passwordResets.expiresAt, now), mayEnter, hasOwnPassword))
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
