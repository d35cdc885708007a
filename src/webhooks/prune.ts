import type { CronTask } from '../jobs/cron-tasks.ts'
import { removeExcessDeliveries, removeOldDeliveries } from './store.ts'

/** Long enough to look into what a receiver says it did not get. */
const KEEP_DAYS = 7
/** Of one hook, beside those that wait. */
const KEEP_OF_EACH = 1000
const BATCH = 1000
const DAY_MS = 86_400_000

export const deliveryTasks: readonly CronTask[] = [
  {
    name: 'cleanup_hook_task_table',
    schedule: '@midnight',
    description: `Delete the records of deliveries to hooks older than ${KEEP_DAYS} days, and beyond the newest ${KEEP_OF_EACH} of each hook`,
    async run({ db, clock, log }, signal) {
      const before = new Date(clock.now().getTime() - KEEP_DAYS * DAY_MS)
      const old = await inBatches(signal, () => removeOldDeliveries(db, before, BATCH))
      const excess = await inBatches(signal, () => removeExcessDeliveries(db, KEEP_OF_EACH, BATCH))
      log.info({ deliveries: old + excess }, 'old deliveries deleted')
    },
  },
]

async function inBatches(signal: AbortSignal, remove: () => Promise<number>): Promise<number> {
  let total = 0
  while (!signal.aborted) {
    const removed = await remove()
    total += removed
    if (removed < BATCH) break
  }
  return total
}
