import { and, eq, gt, lte, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RegistrationRow, registrations } from '../../../db/schema/account-links.ts'
import { emails, users } from '../../../db/schema/users.ts'

export async function insertRegistration(tx: Db, values: typeof registrations.$inferInsert): Promise<void> {
  await tx.insert(registrations).values(values)
}

/** While its link works. */
export async function findRegistration(db: Db, codeHash: string, now: Date): Promise<RegistrationRow | undefined> {
  const [row] = await db
    .select()
    .from(registrations)
    .where(and(eq(registrations.codeHash, codeHash), gt(registrations.expiresAt, now)))
  return row
}

/** False when somebody was quicker. */
export async function removeRegistration(tx: Db, id: number): Promise<boolean> {
  const gone = await tx.delete(registrations).where(eq(registrations.id, id)).returning({ id: registrations.id })
  return gone.length > 0
}

export async function removeExpiredRegistrations(db: Db, now: Date): Promise<void> {
  await db.delete(registrations).where(lte(registrations.expiresAt, now))
}

export const isNameTaken = async (db: Db, name: string): Promise<boolean> =>
  (await db.$count(users, eq(users.lowerName, sql`lower(${name})`))) > 0

/** Name of the account that a confirmed address belongs to. */
export async function findHolder(db: Db, email: string): Promise<string | undefined> {
  const [row] = await db
    .select({ name: users.name })
    .from(emails)
    .innerJoin(users, eq(users.id, emails.userId))
    .where(and(eq(emails.lowerEmail, sql`lower(${email})`), eq(emails.isActivated, true)))
  return row?.name
}
