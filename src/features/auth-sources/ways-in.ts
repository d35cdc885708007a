import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { passkeys } from '../../../db/schema/passkeys.ts'
import { users } from '../../../db/schema/users.ts'
import { invalid } from '../../kernel/errors.ts'
import { listIdentities } from './identity-store.ts'

/**
 * Called in the transaction that takes a way to sign in from somebody, after it, and with their account locked.
 * @throws Refusal 422 when none is left
 */
export async function requireWayIn(tx: Db, userId: number): Promise<void> {
  const [user] = await tx.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, userId))
  if (user?.passwordHash !== '') return
  if ((await tx.$count(passkeys, eq(passkeys.userId, userId))) > 0) return
  if ((await listIdentities(tx, userId)).some(({ source }) => source.isActive)) return
  throw invalid('nothing would be left to sign in with: choose a password first')
}
