import type { CronTask } from '../../jobs/cron-tasks.ts'
import { removeOldActivities } from './store.ts'

/** A little longer than the year that the heatmap shows. */
const KEEP_DAYS = 370
const BATCH = 5000
const DAY_MS = 86_400_000

export const activityTasks: readonly CronTask[] = [
  {
    name: 'delete_old_actions',
    schedule: '@every 168h',
    description: `Delete activities older than ${KEEP_DAYS} days`,
    async run({ db, clock, log }, signal) {
      const before = new Date(clock.now().getTime() - KEEP_DAYS * DAY_MS)
      let total = 0
      while (!signal.aborted) {
        const removed = await removeOldActivities(db, before, BATCH)
        total += removed
        if (removed < BATCH) break
      }
      log.info({ activities: total }, 'old activities deleted')
    },
  },
]
