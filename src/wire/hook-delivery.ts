import { t } from 'elysia'
import type { HookDeliveryRow } from '../../db/schema/hooks.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'

const headers = () => t.Record(t.String(), t.String())

const summary = {
  id: int64(),
  uuid: t.String({ format: 'uuid', description: 'As in X-Gitea-Delivery; the same for every attempt' }),
  event_type: t.String({ description: 'As in X-Gitea-Event-Type' }),
  status: t.Union([t.Literal('waiting'), t.Literal('delivered'), t.Literal('failed')]),
  attempts: int64(),
  response_status: t.Nullable(int64({ description: 'Of the last attempt' })),
  error: t.Nullable(t.String({ description: 'Why the last attempt had no answer' })),
  duration_ms: t.Nullable(int64()),
  created_at: t.String({ format: 'date-time' }),
  attempted_at: t.Nullable(t.String({ format: 'date-time' })),
  next_attempt_at: t.Nullable(t.String({ format: 'date-time' })),
}

export type HookDelivery = typeof HookDelivery.static
export const HookDelivery = t.Object(summary, { $id: 'HookDelivery' })

export type HookDeliveryDetail = typeof HookDeliveryDetail.static
export const HookDeliveryDetail = t.Object(
  {
    ...summary,
    request: t.Object({ url: t.String(), method: t.String(), headers: headers(), body: t.String() }),
    response: t.Nullable(
      t.Object({
        status: int64(),
        headers: headers(),
        body: t.String({ description: 'Its beginning' }),
        is_cut: t.Boolean(),
      }),
    ),
  },
  { $id: 'HookDeliveryDetail' },
)

/** Without what was sent and answered. */
export type ShownDelivery = Omit<HookDeliveryRow, 'payload' | 'request' | 'response'> & {
  responseStatus: number | null
}

export function presentDelivery(delivery: ShownDelivery): HookDelivery {
  const { state, attemptedAt, nextAttemptAt } = delivery
  return {
    id: delivery.id,
    uuid: delivery.uuid,
    event_type: delivery.eventType,
    status: state,
    attempts: delivery.attempts,
    response_status: delivery.responseStatus,
    error: delivery.error,
    duration_ms: delivery.durationMs,
    created_at: wireTime(delivery.createdAt),
    attempted_at: attemptedAt && wireTime(attemptedAt),
    next_attempt_at: state === 'waiting' ? wireTime(nextAttemptAt) : null,
  }
}

export function presentDeliveryDetail(delivery: HookDeliveryRow): HookDeliveryDetail {
  const { request, response, payload } = delivery
  return {
    ...presentDelivery({ ...delivery, responseStatus: response?.status ?? null }),
    request: { url: '', method: 'POST', headers: {}, ...request, body: payload },
    response: response && {
      status: response.status,
      headers: response.headers,
      body: response.body,
      is_cut: response.isCut,
    },
  }
}
