import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import type { NewEvent } from './catalogue.ts'

/** Writes what happened in the transaction that made it happen, and returns its id. Reactions follow the commit. */
export async function appendEvent(tx: Db, event: NewEvent): Promise<number> {
  const [id] = await appendEvents(tx, [event])
  if (id === undefined) throw new Error('insert returned no row')
  return id
}

/** Events of one statement: five parameters each, and a statement takes 65,535. */
const BATCH = 1000

/** The same for several, in their order, with one statement for each thousand. */
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
    ids.push(...rows.map(({ id }) => id))
  }
  return ids
}

/**
 * The same as a part of a larger statement, for a change that is one statement together with its event and so needs no
 * transaction around it.
 * @param made the common table expression that the payload is read from
 */
export function appendingEvent(
  {
    kind,
    actorId,
    repositoryId = null,
    ownerId = null,
  }: Pick<NewEvent, 'kind' | 'actorId' | 'repositoryId' | 'ownerId'>,
  { payload, made }: { payload: SQL; made: SQL },
): SQL {
  return sql`insert into ${events} (kind, actor_id, repository_id, owner_id, payload)
    select ${kind}::text, ${actorId}::bigint, ${repositoryId}::bigint, ${ownerId}::bigint, ${payload} from ${made}`
}
