import type { Db } from '../../db/client.ts'
import { type HookDeliveryRow, hookDeliveries } from '../../db/schema/hooks.ts'
import { enqueueJob, enqueueJobs } from '../jobs/enqueue.ts'

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
  await wakeHooks(tx, new Set(rows.map(({ hookId }) => hookId)))
  return rows
}

const jobOf = (hookId: number) => ({ key: `hook:${hookId}`, queue: `hook:${hookId}` })

/** Something may be due for these hooks now. */
export async function wakeHooks(tx: Db, hookIds: Iterable<number>): Promise<void> {
  const inOrder = [...hookIds].sort((left, right) => left - right)
  const jobs = inOrder.map((hookId) => ({ payload: { hookId }, ...jobOf(hookId) }))
  if (jobs.length > 0) await enqueueJobs(tx, 'webhooks.send', jobs)
}

/** Something is due then. A job that waits already was woken for now, and is left alone: it will find the time itself. */
export async function wakeHookLater(tx: Db, hookId: number, runAt: Date): Promise<void> {
  await enqueueJob(tx, 'webhooks.send', { hookId }, { ...jobOf(hookId), runAt, onSameKey: 'ignore' })
}
