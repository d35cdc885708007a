import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, type SortKey } from '../../../db/keyset.ts'
import { type EmailRow, emails, users } from '../../../db/schema/users.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'

/** A person's addresses, in the order in which they were added. */
export function listEmails(db: Db, userId: number): Promise<EmailRow[]> {
  return db.select().from(emails).where(eq(emails.userId, userId)).orderBy(asc(emails.id))
}

/** Adds addresses, or takes up those that wait to be confirmed; those that are verified already are not among the rows returned. */
export function insertEmails(
  db: Db,
  userId: number,
  { addresses, isActivated }: { addresses: readonly string[]; isActivated: boolean },
): Promise<EmailRow[]> {
  return db
    .insert(emails)
    .values(addresses.map((email) => ({ userId, email, isActivated })))
    .onConflictDoUpdate({
      target: [emails.userId, emails.lowerEmail],
      set: { isActivated: sql`excluded.is_activated` },
      setWhere: sql`not ${emails.isActivated}`,
    })
    .returning()
}

/** Removes those of these addresses that are this person's, and returns them. */
export function removeEmails(db: Db, userId: number, addresses: readonly string[]): Promise<EmailRow[]> {
  const lower = addresses.map((email) => email.toLowerCase())
  return db
    .delete(emails)
    .where(and(eq(emails.userId, userId), inArray(emails.lowerEmail, lower)))
    .returning()
}

/**
 * Makes an address the primary one: the person's own if it is among theirs, else a new one in place of the primary.
 * The caller keeps `users.email` equal to it.
 */
export async function replacePrimaryEmail(db: Db, userId: number, email: string): Promise<void> {
  const mine = eq(emails.userId, userId)
  const [own] = await db
    .select({ id: emails.id })
    .from(emails)
    .where(and(mine, eq(emails.lowerEmail, email.toLowerCase())))
  if (own === undefined) {
    await db.delete(emails).where(and(mine, emails.isPrimary))
    await db.insert(emails).values({ userId, email, isPrimary: true, isActivated: true })
    return
  }
  await db.update(emails).set({ isPrimary: false }).where(and(mine, emails.isPrimary))
  await db
    .update(emails)
    .set({ isPrimary: true, isActivated: true, email })
    .where(and(mine, eq(emails.id, own.id)))
}

export interface OwnedEmail {
  email: EmailRow
  owner: { id: number; name: string }
}

/** By its number where several accounts wait to confirm the same. */
const byAddress: SortKey[] = [
  { key: emails.lowerEmail, type: 'text' },
  { key: emails.id, type: 'bigint' },
]

/** Addresses of the whole site. Wire: in the text `%` matches anything; it is looked for in addresses and names. */
export async function searchEmails(db: Db, text: string | undefined, page: Page): Promise<Paged<OwnedEmail>> {
  const wanted: SQL | undefined = text === undefined ? undefined : matches(text)
  const rows = db
    .select({ email: emails, owner: { id: users.id, name: users.name } })
    .from(emails)
    .innerJoin(users, eq(users.id, emails.userId))
    .where(and(wanted, afterPosition(byAddress, page.after)))
    .orderBy(inOrder(byAddress))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const count = db
    .select({ total: sql<number>`count(*)::int` })
    .from(emails)
    .innerJoin(users, eq(users.id, emails.userId))
    .where(wanted)
  const [found, [counted]] = await Promise.all([rows, count])
  return cutPage(page, { rows: found, total: counted?.total ?? 0 }, ({ email }) => [email.lowerEmail, String(email.id)])
}

function matches(text: string): SQL {
  const pattern = `%${text.toLowerCase().replace(/[\\_]/g, '\\$&')}%`
  return sql`(${emails.lowerEmail} like ${pattern} or ${users.lowerName} like ${pattern})`
}
