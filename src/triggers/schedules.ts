import type { Context } from '../context.ts'
import { appendEvents } from '../events/append.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { listDue, takeTicks } from '../features/actions-runs/standing-store.ts'
import type { CronTask } from '../jobs/cron-tasks.ts'
import { scheduleOf } from './standing.ts'

const BATCH = 100

/**
 * Tells which schedules are due. One that was due several times while nothing ran is due once. A tick and its event are one
 * transaction, and the tick is taken by a condition: of several replicas one tells.
 */
async function tellDue(context: Context, signal: AbortSignal): Promise<void> {
  const { db, workflows, clock } = context
  const now = clock.now()
  let isMore = true
  while (isMore && !signal.aborted) {
    const due = await listDue(db, now, BATCH)
    const times = await workflows.nextTimes(due.map(scheduleOf), now)
    const ticks = due.flatMap(({ id, nextAt }, index) =>
      nextAt ? [{ id, dueAt: nextAt.toISOString(), nextAt: times[index]?.toISOString() ?? null }] : [],
    )
    await db.transaction(async (tx) => {
      const taken = await takeTicks(tx, ticks)
      const events = taken
        .filter(({ isActive }) => isActive)
        .map(
          ({ cron, timezone, actorId, repositoryId, ownerId }): NewEvent => ({
            ...{ kind: 'workflow_schedule.due', actorId, repositoryId, ownerId },
            payload: scheduleOf({ cron, timezone }),
          }),
        )
      await appendEvents(tx, events)
    })
    isMore = due.length === BATCH
  }
}

export const scheduleTasks: readonly CronTask[] = [
  {
    name: 'start_schedule_tasks',
    schedule: '@every 1m',
    description: 'Start the workflows whose schedule is due',
    run: tellDue,
  },
]
