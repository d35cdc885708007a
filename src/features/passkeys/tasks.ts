import type { CronTask } from '../../jobs/cron-tasks.ts'
import { removeExpiredChallenges } from './store.ts'

export const passkeyTasks: readonly CronTask[] = [
  {
    name: 'delete_used_challenges',
    schedule: '@every 1h',
    description: 'Forget challenges for passkeys that have expired',
    run: ({ db, clock }) => removeExpiredChallenges(db, clock.now()),
  },
]
