import { sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import type { Context } from '../../context.ts'
import { Refusal } from '../../kernel/errors.ts'
import { sumOwned } from './store.ts'

/** Wire: git-lfs stops a push at 507, and shows why. */
const full = (maxBytes: number) =>
  new Refusal(507, `the owner's repositories may hold ${maxBytes} bytes of Git LFS (LFS_MAX_OWNER_BYTES)`)

/** Before anything is sent. @throws Refusal 507 */
export async function requireRoom(
  { db, config }: Pick<Context, 'db' | 'config'>,
  { ownerId, more }: { ownerId: number; more: number },
): Promise<void> {
  const maxBytes = config.lfsMaxOwnerBytes
  if (maxBytes > 0 && more > 0 && (await sumOwned(db, ownerId)) + more > maxBytes) throw full(maxBytes)
}

/**
 * Ends the transaction that gives a repository more. Called after the rows are written: from here to the end nobody else is asked for the
 * same owner, so that of two at the same instant the second counts the first.
 * @throws Refusal 507
 */
export async function requireKept(tx: Db, { config }: Pick<Context, 'config'>, ownerId: number): Promise<void> {
  const maxBytes = config.lfsMaxOwnerBytes
  if (maxBytes === 0) return
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`quota of Git LFS: ${ownerId}`}, 0))`)
  if ((await sumOwned(tx, ownerId)) > maxBytes) throw full(maxBytes)
}
