import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { deliveryStates, type HookDeliveryRow, type HookRow, hookDeliveries } from '../../db/schema/hooks.ts'
import { recordAudit } from '../audit/record.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { invalid, notFound } from '../kernel/errors.ts'
import { numberedPage, type Page, type Paged } from '../kernel/page.ts'
import type { ShownDelivery } from '../wire/hook-delivery.ts'
import { insertDeliveries } from './deliveries.ts'
import { getHook } from './service.ts'
import type { HookParent } from './store.ts'

/** Deliveries of a hook, newest first. @throws Refusal 404 for another parent's hook, 422 for a status that there is not */
export async function listDeliveries(
  context: Context,
  { parent, id, status }: { parent: HookParent; id: string; status: string | undefined },
  page: Page,
): Promise<Paged<ShownDelivery>> {
  const { db } = context
  const hook = await getHook(context, parent, id)
  const state = deliveryStates.find((one) => one === status)
  if (status !== undefined && state === undefined) throw invalid('is waiting, delivered or failed', 'status')
  const wanted = and(eq(hookDeliveries.hookId, hook.id), state && eq(hookDeliveries.state, state))
  const newest = db
    .select(summaryColumns)
    .from(hookDeliveries)
    .where(wanted)
    .orderBy(desc(hookDeliveries.id))
    .limit(page.limit)
    .offset(page.offset)
  const [rows, total] = await Promise.all([newest, db.$count(hookDeliveries, wanted)])
  return numberedPage(page, { rows, total })
}

/** An answer may be 64 KiB: the list takes its status alone. */
const { payload: _payload, request: _request, response: _response, ...shortColumns } = getTableColumns(hookDeliveries)
const summaryColumns = {
  ...shortColumns,
  responseStatus: sql<number | null>`(${hookDeliveries.response} ->> 'status')::int`,
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** @throws Refusal 404 for another parent's hook, and another hook's delivery */
export async function getDelivery(
  context: Context,
  { parent, id, uuid }: { parent: HookParent; id: string; uuid: string },
): Promise<{ hook: HookRow; delivery: HookDeliveryRow }> {
  const hook = await getHook(context, parent, id)
  const mine = and(eq(hookDeliveries.hookId, hook.id), eq(hookDeliveries.uuid, uuid))
  const [delivery] = UUID.test(uuid) ? await context.db.select().from(hookDeliveries).where(mine) : []
  if (!delivery) throw notFound()
  return { hook, delivery }
}

/** Sends the same content once more, as a delivery of its own. @throws Refusal 404 as `getDelivery` */
export async function redeliver(
  context: Context,
  actor: Actor,
  asked: { parent: HookParent; id: string; uuid: string },
): Promise<HookDeliveryRow> {
  const { hook, delivery } = await getDelivery(context, asked)
  return context.db.transaction(async (tx) => {
    const again = await insertAlone(tx, {
      hookId: hook.id,
      eventType: delivery.eventType,
      payload: delivery.payload,
    })
    const subject = { kind: `${hook.scope} hook`, id: hook.id, name: hook.name }
    await recordAudit(tx, actor, {
      action: 'hook.redeliver',
      subject,
      after: { uuid: delivery.uuid, again: again.uuid },
    })
    return again
  })
}

/** A delivery that waits for no other. */
export async function insertAlone(
  tx: Db,
  { hookId, eventType, payload }: { hookId: number; eventType: string; payload: string },
): Promise<HookDeliveryRow> {
  const subject = `alone:${crypto.randomUUID()}`
  const [row] = await insertDeliveries(tx, [{ hookId, eventId: null, part: 0, eventType, subject, payload }])
  if (row === undefined) throw new Error('insert returned no row')
  return row
}
