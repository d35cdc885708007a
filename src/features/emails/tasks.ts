import type { CronTask } from '../../jobs/cron-tasks.ts'
import { removeExpired } from './confirmations.ts'

export const emailTasks: readonly CronTask[] = [
  {
    name: 'delete_unconfirmed_emails',
    schedule: '@every 1h',
    description: 'Delete e-mail addresses that nobody confirmed in time',
    async run({ db, clock }) {
      await db.transaction((tx) => removeExpired(tx, clock.now()))
    },
  },
]
