import type { CronTask } from '../../jobs/cron-tasks.ts'
import { removeExpiredRegistrations } from './store.ts'

export const registrationTasks: readonly CronTask[] = [
  {
    name: 'delete_unconfirmed_registrations',
    schedule: '@every 1h',
    description: 'Forget accounts that were asked for and not confirmed in time',
    run: ({ db, clock }) => removeExpiredRegistrations(db, clock.now()),
  },
]
