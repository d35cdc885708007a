import type { Db } from '../../db/client.ts'
import { type HookDeliveryRow, hookDeliveries } from '../../db/schema/hooks.ts'
import { enqueueJob } from '../jobs/enqueue.ts'
import type { Lane } from './lane-store.ts'

export interface NewDelivery {
  hookId: number
  /** Null for a test. */
  eventId: number | null
  /** Of several deliveries for one event, from 0. */
  part: number
  /** As in `X-Gitea-Event-Type`. */
  eventType: string
  /** Deliveries of one hook for one subject keep their order; empty where they need none. */
  subject: string
  /** The JSON text that is sent and signed. */
  payload: string
}

/**
 * Writes deliveries and wakes who sends them, in the transaction of the caller. One that is there already for its hook, event and part is
 * left as it is, so that an event may be handled twice.
 */
export async function insertDeliveries(tx: Db, deliveries: readonly NewDelivery[]): Promise<HookDeliveryRow[]> {
  if (deliveries.length === 0) return []
  const rows = await tx
    .insert(hookDeliveries)
    .values([...deliveries])
    .onConflictDoNothing()
    .returning()
  const lanes = new Map(rows.map(({ hookId, subject }) => [keyOf({ hookId, subject }), { hookId, subject }]))
  for (const [key, lane] of lanes) {
    await enqueueJob(tx, 'webhooks.send', lane, { key, queue: key, onSameKey: 'ignore' })
  }
  return rows
}

/** Takes up a lane at a time, in place of whatever was meant to. */
export async function wakeLane(tx: Db, lane: Lane, runAt: Date): Promise<void> {
  const key = keyOf(lane)
  await enqueueJob(tx, 'webhooks.send', lane, { key, queue: key, runAt })
}

const keyOf = ({ hookId, subject }: Lane): string => `hook:${hookId}:${subject}`
