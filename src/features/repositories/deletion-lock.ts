import { sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { DELETIONS_LOCK } from '../../../db/locks.ts'

/**
 * Called first of all in the transaction that deletes an account. It takes rows with it that belong to many people, organizations and
 * repositories, in no order that others could keep to, so it waits until nobody is within `keepAccounts`.
 */
export async function lockDeletions(tx: Db): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${DELETIONS_LOCK}::integer, 0)`)
}

/**
 * From here to the end of the transaction no account is deleted. For those that lock rows of several accounts or repositories, before the
 * first of them: one that makes a repository locks its owner and then who watches it, and the deletion of a person locks these the
 * other way round. They go side by side with each other.
 */
export async function keepAccounts(tx: Db): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock_shared(${DELETIONS_LOCK}::integer, 0)`)
}
