import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { userRedirects } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'

const DAY_MS = 86_400_000

/**
 * Called in the transaction that gives an account a name: whoever had it before loses the way from it. For as long as the site says, a
 * name that was given up is out of reach for others, since old addresses of repositories lead to it.
 * @throws Refusal 422 while it is
 */
export async function claimName(
  tx: Db,
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  { id, lowerName }: { id: number; lowerName: string },
): Promise<void> {
  const [freed] = await tx.delete(userRedirects).where(eq(userRedirects.lowerName, lowerName)).returning()
  if (freed === undefined || freed.userId === id) return
  const until = freed.createdAt.getTime() + config.freedNameDays * DAY_MS
  if (until > clock.now().getTime()) throw invalid(`the name is kept for its last owner [name: ${lowerName}]`)
}
