import { sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { DELETIONS_LOCK } from '../../../db/locks.ts'

/**
 * Called first of all in the transaction that deletes an account or a repository. The one takes rows of many repositories with it, the
 * other those of many people: side by side each would wait for what the other has. Repositories do go side by side.
 */
export async function lockDeletions(tx: Db, of: 'account' | 'repository'): Promise<void> {
  if (of === 'account') await tx.execute(sql`select pg_advisory_xact_lock(${DELETIONS_LOCK}::integer, 0)`)
  else await tx.execute(sql`select pg_advisory_xact_lock_shared(${DELETIONS_LOCK}::integer, 0)`)
}
