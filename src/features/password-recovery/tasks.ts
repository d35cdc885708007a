import type { CronTask } from '../../jobs/cron-tasks.ts'
import { removeExpiredResets } from './store.ts'

export const recoveryTasks: readonly CronTask[] = [
  {
    name: 'delete_expired_password_resets',
    schedule: '@every 1h',
    description: 'Delete links for forgotten passwords that nobody followed in time',
    run: ({ db, clock }) => removeExpiredResets(db, clock.now()),
  },
]
