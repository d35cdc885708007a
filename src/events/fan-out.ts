import { Value } from '@sinclair/typebox/value'
import { and, eq, isNull } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { type EventRow, events } from '../../db/schema/events.ts'
import { enqueueJob } from '../jobs/enqueue.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import { type EventKind, eventCatalogue, isEventKind, type StoredEvent } from './catalogue.ts'
import type { Reaction } from './reaction.ts'

/** The handlers that turn an event into one job for each reaction that wants it. */
export function eventHandlers(reactions: readonly Reaction[]): Pick<JobHandlers, 'events.fan_out' | 'events.react'> {
  const byName = new Map(reactions.map((one) => [one.name, one]))
  if (byName.size < reactions.length) throw new Error('two reactions have the same name')
  return {
    'events.fan_out': ({ db, clock }, { eventId }) => fanOut(db, reactions, { eventId, at: clock.now() }),
    async 'events.react'(context, { eventId, reaction: name }, { signal }) {
      const wanted = byName.get(name)
      // During an upgrade: another replica knows it, and takes the next attempt.
      if (wanted === undefined) throw new Error(`this version has no reaction ${name}`)
      const event = await findEvent(context.db, eventId)
      // Pruned: it waited longer than events are kept.
      if (event !== undefined) await wanted.react(context, event, signal)
    },
  }
}

/** Enqueues the reactions exactly once, however often its own job runs: the mark and the jobs are one transaction. */
async function fanOut(db: Db, reactions: readonly Reaction[], { eventId, at }: { eventId: number; at: Date }) {
  await db.transaction(async (tx) => {
    const [row] = await tx
      .update(events)
      .set({ fannedOutAt: at })
      .where(and(eq(events.id, eventId), isNull(events.fannedOutAt)))
      .returning()
    if (row === undefined) return
    const event = checked(row)
    for (const one of reactions.filter(({ kinds }) => kinds.has(event.kind))) {
      const payload = { eventId, reaction: one.name }
      await enqueueJob(tx, 'events.react', payload, { key: `${one.name}:${eventId}`, queue: one.queueOf(event) })
    }
  })
}

/** The event, or undefined when it has been pruned. */
export async function findEvent(db: Db, id: number): Promise<StoredEvent | undefined> {
  const [row] = await db.select().from(events).where(eq(events.id, id))
  return row && checked(row)
}

function checked(row: EventRow): StoredEvent {
  if (!isEventKind(row.kind)) throw new Error(`event ${row.id}: unknown kind ${row.kind}`)
  return checkedAs(row.kind, row)
}

function checkedAs<Kind extends EventKind>(kind: Kind, row: EventRow): StoredEvent<Kind> {
  const { id, actorId, repositoryId, ownerId, createdAt, payload } = row
  const schema: (typeof eventCatalogue)[Kind] = eventCatalogue[kind]
  if (!Value.Check(schema, payload)) throw new Error(`event ${id}: payload does not fit its kind ${kind}`)
  return { id, kind, actorId, repositoryId, ownerId, createdAt, payload }
}
