import { lt } from 'drizzle-orm'
import { loginFailures } from '../../../db/schema/credentials.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'

const DAY_MS = 86_400_000

export const userTasks: readonly CronTask[] = [
  {
    name: 'delete_old_login_failures',
    schedule: '@midnight',
    description: 'Forget failed sign-ins that no longer slow anybody down',
    async run({ db, clock }) {
      await db.delete(loginFailures).where(lt(loginFailures.lastFailedAt, new Date(clock.now().getTime() - DAY_MS)))
    },
  },
]
