import { sql } from 'drizzle-orm'
import type { Db } from './client.ts'

/** For the rest of a transaction in which something else takes its time: see `pauseSeconds` of `openDatabase`. */
export async function allowPause(tx: Db, seconds: number): Promise<void> {
  await tx.execute(sql`select set_config('idle_in_transaction_session_timeout', ${`${seconds}s`}, true)`)
}
