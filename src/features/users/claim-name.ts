import { and, eq, gt, lt, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { freedNames, userRedirects } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { invalid } from '../../kernel/errors.ts'

const DAY_MS = 86_400_000

type NameContext = Pick<Context, 'config' | 'clock'>

/** Names that were freed before are anybody's. */
const reservedSince = ({ config, clock }: NameContext) =>
  new Date(clock.now().getTime() - config.freedNameDays * DAY_MS)

/**
 * Called in the transaction that gives an account a name: whoever had it before loses the way from it. For as long as the site says, a
 * name that was given up is out of reach for others, since old addresses of repositories lead to it; that of a deleted account is for
 * everybody.
 * @throws Refusal 422 while it is
 */
export async function claimName(
  tx: Db,
  context: NameContext,
  { id, lowerName }: { id: number; lowerName: string },
): Promise<void> {
  const since = reservedSince(context)
  const [redirect] = await tx.delete(userRedirects).where(eq(userRedirects.lowerName, lowerName)).returning()
  const isOthers = redirect !== undefined && redirect.userId !== id
  const deleted = and(eq(freedNames.lowerName, lowerName), gt(freedNames.freedAt, since))
  if ((isOthers && redirect.createdAt > since) || (await tx.$count(freedNames, deleted)) > 0)
    throw invalid(`the name is kept for its last owner [name: ${lowerName}]`)
}

/**
 * Called in the transaction that deletes an account, before it: clones and scripts go on naming what it was called, and whoever came by
 * the name would be trusted with them. Names that it gave up before keep their own time.
 */
export async function holdNames(
  tx: Db,
  context: NameContext,
  { id, lowerName }: { id: number; lowerName: string },
): Promise<void> {
  if (context.config.freedNameDays === 0) return
  const redirects = await tx.select().from(userRedirects).where(eq(userRedirects.userId, id))
  const earlier = redirects.map((redirect) => ({ lowerName: redirect.lowerName, freedAt: redirect.createdAt }))
  await tx
    .insert(freedNames)
    .values([{ lowerName, freedAt: context.clock.now() }, ...earlier])
    .onConflictDoUpdate({ target: freedNames.lowerName, set: { freedAt: sql`excluded.freed_at` } })
}

export const freedNameTasks: readonly CronTask[] = [
  {
    name: 'delete_freed_names',
    schedule: '@midnight',
    description: 'Forget the names of deleted accounts that are no longer reserved',
    async run({ db, config, clock, log }) {
      const old = lt(freedNames.freedAt, reservedSince({ config, clock }))
      const gone = await db.delete(freedNames).where(old).returning({ name: freedNames.lowerName })
      log.info({ names: gone.length }, 'names of deleted accounts are free again')
    },
  },
]
