import type { Db } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import { eventQueues } from '../jobs/catalogue.ts'
import { enqueueJobs } from '../jobs/enqueue.ts'
import type { NewEvent } from './catalogue.ts'

/** Writes what happened in the transaction that made it happen, and returns its id. Reactions follow the commit. */
export async function appendEvent(tx: Db, event: NewEvent): Promise<number> {
  const [id] = await appendEvents(tx, [event])
  if (id === undefined) throw new Error('insert returned no row')
  return id
}

/** Events of one statement: five parameters each, and a statement takes 65,535. */
const BATCH = 1000

/** The same for several, in their order, with two statements for each thousand. */
export async function appendEvents(tx: Db, all: readonly NewEvent[]): Promise<number[]> {
  const ids: number[] = []
  for (let at = 0; at < all.length; at += BATCH) {
    const batch = all.slice(at, at + BATCH).map(({ kind, actorId, repositoryId = null, ownerId = null, payload }) => ({
      kind,
      actorId,
      repositoryId,
      ownerId,
      payload,
    }))
    const rows = await tx.insert(events).values(batch).returning({ id: events.id })
    const jobs = rows.map(({ id }, index) => ({ payload: { eventId: id }, queue: queueOf(batch[index]) }))
    await enqueueJobs(tx, 'events.fan_out', jobs)
    ids.push(...rows.map(({ id }) => id))
  }
  return ids
}

/** In the order of the events of one subject, and other subjects beside it. */
function queueOf(event: Pick<NewEvent, 'actorId' | 'repositoryId' | 'ownerId'> | undefined): string | undefined {
  const subject = event?.repositoryId ?? event?.ownerId ?? event?.actorId ?? 0
  return eventQueues[subject % eventQueues.length]
}
