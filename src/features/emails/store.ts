import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, type SortKey } from '../../../db/keyset.ts'
import { type EmailRow, emails, users } from '../../../db/schema/users.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import { lockAccount } from '../users/lock.ts'

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
    .where(and(eq(emails.userId, userId), anyOf(emails.lowerEmail, lower)))
    .returning()
}

/** One address of a person, in whatever letters it was given. */
export async function findOwnEmail(db: Db, userId: number, email: string): Promise<EmailRow | undefined> {
  const [own] = await db
    .select()
    .from(emails)
    .where(and(eq(emails.userId, userId), eq(emails.lowerEmail, email.toLowerCase())))
  return own
}

/** Makes a verified address of a locked account its primary one. The caller keeps `users.email` equal to it. */
export async function markPrimary(tx: Db, { id, userId }: Pick<EmailRow, 'id' | 'userId'>): Promise<void> {
  await tx
    .update(emails)
    .set({ isPrimary: false })
    .where(and(eq(emails.userId, userId), emails.isPrimary))
  await tx.update(emails).set({ isPrimary: true }).where(eq(emails.id, id))
}

/**
 * Makes an address that an administrator gives the primary one: the person's own if it is among theirs, else a new one in place of the primary.
 * The caller keeps `users.email` equal to it.
 */
export async function replacePrimaryEmail(tx: Db, userId: number, email: string): Promise<void> {
  await lockAccount(tx, userId)
  const mine = eq(emails.userId, userId)
  const [own] = await tx
    .update(emails)
    .set({ email, isActivated: true, isProven: true })
    .where(and(mine, eq(emails.lowerEmail, email.toLowerCase())))
    .returning({ id: emails.id })
  if (own !== undefined) return markPrimary(tx, { id: own.id, userId })
  await tx.delete(emails).where(and(mine, emails.isPrimary))
  await tx.insert(emails).values({ userId, email, isPrimary: true, isActivated: true, isProven: true })
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

/**
 * Addresses of the whole site. Wire: in the text `%` matches anything; it is looked for in addresses and names. The page is found
 * before anything is joined, so that a deep one costs no more than its place in the index.
 */
export async function searchEmails(db: Db, text: string | undefined, page: Page): Promise<Paged<OwnedEmail>> {
  const found = db
    .select({ email: emails, owner: { id: users.id, name: users.name } })
    .from(emails)
    .innerJoin(users, eq(users.id, emails.userId))
    .where(inArray(emails.id, idsOfPage(text, page)))
    .orderBy(inOrder(byAddress))
  const counts = partsOf(text).map((where) => sql`(select count(*) from ${where})`)
  const count = db.execute<{ total: number }>(sql`select (${sql.join(counts, sql` + `)})::int as total`)
  const [rows, [counted]] = await Promise.all([found, count])
  return cutPage(page, { rows, total: counted?.total ?? 0 }, ({ email }) => [email.lowerEmail, String(email.id)])
}

function idsOfPage(text: string | undefined, page: Page): SQL {
  const [limit, offset] = [rowsToRead(page), rowsToSkip(page)]
  const after = afterPosition(byAddress, page.after) ?? sql`true`
  const parts = partsOf(text).map(
    (from) => sql`(select ${emails.id}, ${emails.lowerEmail} from ${from} and ${after}
      order by ${inOrder(byAddress)} limit ${limit + offset})`,
  )
  return sql`(select id from (${sql.join(parts, sql` union all `)}) as hits order by lower_email, id
    limit ${limit} offset ${offset})`
}

/**
 * What follows `from` for the addresses that match, and for those of people whose name matches and that do not themselves. Each has its
 * trigrams in an index, where one condition on both tables could use none: a rare text in 100,000 addresses was found in 255 ms, and is
 * in 13.
 */
function partsOf(text: string | undefined): SQL[] {
  if (text === undefined) return [sql`${emails} where true`]
  const pattern = `%${text.toLowerCase().replace(/[\\_]/g, '\\$&')}%`
  // The first condition is what the index of people holds.
  const byName = sql`lower(${users.name} || ' ' || ${users.fullName} || ' ' || ${users.email}) like ${pattern}
    and ${users.lowerName} like ${pattern}`
  return [
    sql`${emails} where ${emails.lowerEmail} like ${pattern}`,
    sql`${emails} join ${users} on ${users.id} = ${emails.userId}
      where ${byName} and ${emails.lowerEmail} not like ${pattern}`,
  ]
}
