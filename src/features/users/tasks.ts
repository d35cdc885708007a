import { lt } from 'drizzle-orm'
import { loginFailures, signInAddresses } from '../../../db/schema/credentials.ts'
import { deleteExpiredSessions } from '../../auth/sessions.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'

const DAY_MS = 86_400_000
/** An address that was not used for this long counts as new again. */
const ADDRESS_DAYS = 90

export const userTasks: readonly CronTask[] = [
  {
    name: 'delete_expired_sessions',
    schedule: '@every 1h',
    description: 'Delete sessions of browsers that have expired',
    run: (context) => deleteExpiredSessions(context),
  },
  {
    name: 'delete_old_login_failures',
    schedule: '@midnight',
    description: `Forget failed sign-ins that no longer slow anybody down, and addresses unused for ${ADDRESS_DAYS} days`,
    async run({ db, clock }) {
      const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY_MS)
      await db.delete(loginFailures).where(lt(loginFailures.lastFailedAt, daysAgo(1)))
      await db.delete(signInAddresses).where(lt(signInAddresses.lastSeenAt, daysAgo(ADDRESS_DAYS)))
    },
  },
]
