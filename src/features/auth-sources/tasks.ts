import type { CronTask } from '../../jobs/cron-tasks.ts'
import { removeExpiredPending } from './store.ts'

export const authSourceTasks: readonly CronTask[] = [
  {
    name: 'delete_expired_newcomers',
    schedule: '@every 1h',
    description: 'Forget people who signed in by a provider and chose no account in time',
    run: ({ db, clock }) => removeExpiredPending(db, clock.now()),
  },
]
