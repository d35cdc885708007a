import { lt } from 'drizzle-orm'
import { accessTokens } from '../../../db/schema/credentials.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'

/** An expired token opens nothing; for this long its owner can still see that it was there. */
const KEEP_DAYS = 30
const DAY_MS = 86_400_000

export const tokenTasks: readonly CronTask[] = [
  {
    name: 'delete_expired_tokens',
    schedule: '@midnight',
    description: `Delete access tokens that expired more than ${KEEP_DAYS} days ago`,
    async run({ db, clock, log }) {
      const before = new Date(clock.now().getTime() - KEEP_DAYS * DAY_MS)
      const gone = await db
        .delete(accessTokens)
        .where(lt(accessTokens.expiresAt, before))
        .returning({ id: accessTokens.id })
      log.info({ tokens: gone.length }, 'expired access tokens deleted')
    },
  },
]
