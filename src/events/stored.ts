import { Value } from '@sinclair/typebox/value'
import { asc } from 'drizzle-orm'
import { anyOf } from '../../db/any-of.ts'
import type { Db } from '../../db/client.ts'
import { type EventRow, events } from '../../db/schema/events.ts'
import { type EventKind, eventCatalogue, isEventKind, type StoredEvent } from './catalogue.ts'

/**
 * Those of the events that have not been pruned, in their order.
 * @throws Error for a row that this version cannot read
 */
export async function findEvents(db: Db, ids: readonly number[]): Promise<StoredEvent[]> {
  const rows = await db.select().from(events).where(anyOf(events.id, ids)).orderBy(asc(events.id))
  return rows.map(checked)
}

function checked(row: EventRow): StoredEvent {
  const event = readEvent(row)
  if (event === undefined) throw new Error(`event ${row.id}: payload does not fit its kind ${row.kind}`)
  return event
}

/** The event; undefined when its kind is unknown here or its payload does not fit. */
export function readEvent(row: EventRow): StoredEvent | undefined {
  return isEventKind(row.kind) ? readAs(row.kind, row) : undefined
}

function readAs<Kind extends EventKind>(kind: Kind, row: EventRow): StoredEvent<Kind> | undefined {
  const { id, actorId, repositoryId, ownerId, createdAt, payload } = row
  const schema: (typeof eventCatalogue)[Kind] = eventCatalogue[kind]
  if (!Value.Check(schema, payload)) return undefined
  return { id, kind, actorId, repositoryId, ownerId, createdAt, payload }
}
