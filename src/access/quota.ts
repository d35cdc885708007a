import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import type { Config } from '../config.ts'
import { invalid } from '../kernel/errors.ts'

interface Owned {
  /** As people call them. */
  items: string
  /** Whose they are: a kind and an id. */
  of: string
  /** How many there are. */
  count(): Promise<number>
}

/**
 * Ends the transaction of a creation that makes one more than a person, an organization or a repository may have of a kind. Called
 * after the insert. From here to the end of the transaction nobody else is asked for the same owner, so that of two at the same
 * instant the second counts the first.
 * @throws Refusal 422
 */
export async function requireOwnedQuota(
  tx: Db,
  { maxOwned }: Pick<Config, 'maxOwned'>,
  { items, of, count }: Owned,
): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`quota of ${items}: ${of}`}, 0))`)
  if ((await count()) > maxOwned) throw invalid(`at most ${maxOwned} ${items} (MAX_OWNED)`)
}
