import { and, eq, ne, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { ADMINISTRATORS_LOCK } from '../../../db/locks.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { invalid } from '../../kernel/errors.ts'

/**
 * Keeps the site from losing its last administrator who can sign in, also when two leave at the same time.
 * @throws Refusal 422 when this person is the last one
 */
export async function requireAnotherAdministrator(tx: Db, user: UserRow): Promise<void> {
  if (!user.isAdmin) return
  await tx.execute(sql`select pg_advisory_xact_lock(${ADMINISTRATORS_LOCK})`)
  const [another] = await tx
    .select({ id: users.id })
    .from(users)
    .where(
      and(eq(users.isAdmin, true), eq(users.isActive, true), eq(users.prohibitLogin, false), ne(users.id, user.id)),
    )
    .limit(1)
  if (another === undefined) throw invalid('the last administrator must remain one')
}
