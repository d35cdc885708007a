import { type Reaction, reaction } from '../events/reaction.ts'
import type { CronTask } from '../jobs/cron-tasks.ts'
import { copyDefaultHooks, removeOldDeliveries } from './store.ts'

/** New repositories get the default hooks of the site. */
export const defaultHooks: Reaction = reaction({
  name: 'webhooks.copy_defaults',
  kinds: ['repository.created', 'repository.forked'],
  react: ({ db }, { payload }) => copyDefaultHooks(db, payload.repositoryId),
})

/** Long enough to look into what a receiver says it did not get. */
const KEEP_DAYS = 7
const BATCH = 1000
const DAY_MS = 86_400_000

export const deliveryTasks: readonly CronTask[] = [
  {
    name: 'cleanup_hook_task_table',
    schedule: '@midnight',
    description: `Delete the records of deliveries to hooks older than ${KEEP_DAYS} days`,
    async run({ db, clock, log }, signal) {
      const before = new Date(clock.now().getTime() - KEEP_DAYS * DAY_MS)
      let total = 0
      while (!signal.aborted) {
        const removed = await removeOldDeliveries(db, before, BATCH)
        total += removed
        if (removed < BATCH) break
      }
      log.info({ deliveries: total }, 'old deliveries deleted')
    },
  },
]
