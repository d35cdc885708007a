import { and, eq } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { emails, users } from '../../../db/schema/users.ts'

/** Names of the accounts behind addresses in commits, by address in lower case. Only confirmed addresses count. */
export async function findNamesByEmail(db: Db, addresses: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(addresses.map((address) => address.toLowerCase()))].filter((address) => address !== '')
  if (wanted.length === 0) return new Map()
  const rows = await db
    .select({ email: emails.lowerEmail, name: users.name })
    .from(emails)
    .innerJoin(users, eq(users.id, emails.userId))
    .where(and(anyOf(emails.lowerEmail, wanted), eq(emails.isActivated, true)))
  return new Map(rows.map(({ email, name }) => [email, name]))
}
