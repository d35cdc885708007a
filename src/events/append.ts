import type { Db } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import { eventQueues } from '../jobs/catalogue.ts'
import { enqueueJob } from '../jobs/enqueue.ts'
import type { NewEvent } from './catalogue.ts'

/** Writes what happened in the transaction that made it happen, and returns its id. Reactions follow the commit. */
export async function appendEvent(tx: Db, event: NewEvent): Promise<number> {
  const { kind, actorId, repositoryId = null, ownerId = null, payload } = event
  const [row] = await tx
    .insert(events)
    .values({ kind, actorId, repositoryId, ownerId, payload })
    .returning({ id: events.id })
  if (row === undefined) throw new Error('insert returned no row')
  // In the order of the events of one subject, and other subjects beside it.
  const queue = eventQueues[(repositoryId ?? ownerId ?? actorId ?? 0) % eventQueues.length]
  await enqueueJob(tx, 'events.fan_out', { eventId: row.id }, { queue })
  return row.id
}
