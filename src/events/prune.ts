import { asc, inArray, lt } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import type { CronTask } from '../jobs/cron-tasks.ts'

/** Far longer than a reaction is retried (about four days): what people read is in tables of its own. */
const KEEP_DAYS = 30
const BATCH = 5000
const DAY_MS = 86_400_000

/** Deletes events made before `before`, in statements of a bounded size, and returns how many. */
export async function pruneEvents(db: Db, before: Date, signal?: AbortSignal): Promise<number> {
  let total = 0
  while (signal?.aborted !== true) {
    const batch = db
      .select({ id: events.id })
      .from(events)
      .where(lt(events.createdAt, before))
      .orderBy(asc(events.createdAt))
      .limit(BATCH)
    const gone = await db.delete(events).where(inArray(events.id, batch)).returning({ id: events.id })
    total += gone.length
    if (gone.length < BATCH) break
  }
  return total
}

export const eventTasks: readonly CronTask[] = [
  {
    name: 'delete_old_events',
    schedule: '@midnight',
    description: `Delete the record of events older than ${KEEP_DAYS} days, whose effects are kept elsewhere`,
    async run({ db, clock, log }, signal) {
      const before = new Date(clock.now().getTime() - KEEP_DAYS * DAY_MS)
      log.info({ events: await pruneEvents(db, before, signal) }, 'old events deleted')
    },
  },
]
