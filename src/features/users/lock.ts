import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'

/**
 * Locks an account until the transaction ends. Who counts or compares rows of one account first locks it, so that of two changes at once
 * the later one sees what the earlier left. Undefined for an account that is gone.
 */
export async function lockAccount(tx: Db, userId: number): Promise<UserRow | undefined> {
  const [row] = await tx.select().from(users).where(eq(users.id, userId)).for('no key update')
  return row
}
