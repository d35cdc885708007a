import { eq } from 'drizzle-orm'
import { type HookDeliveryRow, type HookRow, hookDeliveries, hooks } from '../../db/schema/hooks.ts'
import type { Context } from '../context.ts'
import type { JobHandlers, JobRun } from '../jobs/handlers.ts'
import type { OutboundAnswer, OutboundRequest } from '../outbound/client.ts'
import { OutboundError } from '../outbound/outbound-error.ts'
import { openAddress } from './address.ts'
import { wakeLane } from './deliveries.ts'
import { findLane, targetOf } from './lane-store.ts'
import { pauseIfDead } from './pause.ts'
import { hookRequest, SECRET_HEADERS } from './request.ts'
import { judgeAnswer, judgeError, MAX_ATTEMPTS, nextAttempt, type Verdict } from './retry.ts'

/** Deliveries of one lane that one job sends before others have their turn. */
const MAX_IN_A_ROW = 50
/** Where all places of a host are taken. */
const NO_PLACE_MS = 1000
/** Answers are stored for people to read, not for programs. */
const STORED_HEADERS = 40

/**
 * Sends what waits for one hook and one subject, one after the other in their order. What fails for now stays the first of its lane, and
 * the job of the lane comes again at its time, which no other job of the lane may overtake: it has their key. A request whose answer was not recorded is repeated with the same id.
 */
export const hookHandlers: Pick<JobHandlers, 'webhooks.send'> = {
  async 'webhooks.send'(context, lane, run) {
    for (let sent = 0; sent < MAX_IN_A_ROW; sent++) {
      run.signal.throwIfAborted()
      const found = await findLane(context.db, lane)
      if (found === undefined) return
      const { hook, delivery } = found
      const now = context.clock.now()
      const url = openAddress(context, hook)
      const giveBack = context.hostPlaces.take(new URL(url).host, hook.failingSince !== null)
      if (giveBack === undefined) return wakeLane(context.db, lane, new Date(now.getTime() + NO_PLACE_MS))
      try {
        const isOver = await attempt(context, { hook, delivery, url }, run)
        if (!isOver) return
      } finally {
        giveBack()
      }
    }
    await wakeLane(context.db, lane, context.clock.now())
  },
}

interface Attempt {
  hook: HookRow
  delivery: HookDeliveryRow
  url: string
}

interface Outcome {
  request: OutboundRequest
  verdict: Verdict
  answer?: OutboundAnswer
  error?: string
  durationMs: number
}

/** Returns whether the next delivery of the lane may be sent. */
async function attempt(context: Context, tried: Attempt, run: JobRun): Promise<boolean> {
  const outcome = await sendOnce(context, tried, run.signal)
  const { hook, delivery } = tried
  const attempts = delivery.attempts + 1
  const now = context.clock.now()
  const isOver = outcome.verdict !== 'again' || attempts >= MAX_ATTEMPTS
  const nextAttemptAt = isOver ? now : nextAttempt(attempts, now, outcome.answer?.headers['retry-after'])
  await context.db.transaction(async (tx) => {
    await run.holdLease(tx)
    await tx
      .update(hookDeliveries)
      .set({
        ...stored(outcome, hook.url),
        state: outcome.verdict === 'delivered' ? 'delivered' : isOver ? 'failed' : 'waiting',
        attempts,
        nextAttemptAt,
        attemptedAt: now,
      })
      .where(eq(hookDeliveries.id, delivery.id))
    if (outcome.verdict === 'delivered') {
      if (hook.failingSince !== null) await tx.update(hooks).set({ failingSince: null }).where(eq(hooks.id, hook.id))
    } else if (hook.failingSince === null) {
      await tx.update(hooks).set({ failingSince: now }).where(eq(hooks.id, hook.id))
    } else {
      await pauseIfDead(context, tx, hook)
    }
    if (!isOver) await wakeLane(tx, { hookId: hook.id, subject: delivery.subject }, nextAttemptAt)
  })
  return isOver
}

async function sendOnce(context: Context, { hook, delivery, url }: Attempt, signal: AbortSignal): Promise<Outcome> {
  const { secrets, outbound } = context
  const request = hookRequest({
    type: hook.type,
    url,
    httpMethod: hook.httpMethod,
    contentType: hook.contentType,
    secret: hook.secret === null ? '' : secrets.open('hook secret', hook.secret),
    authorization:
      hook.authorizationHeader === null ? '' : secrets.open('hook authorization', hook.authorizationHeader),
    target: await targetOf(context.db, hook),
    uuid: delivery.uuid,
    eventType: delivery.eventType,
    payload: delivery.payload,
    now: context.clock.now(),
  })
  const startedAt = performance.now()
  const took = () => Math.round(performance.now() - startedAt)
  try {
    const answer = await outbound.send(request, signal)
    return { request, verdict: judgeAnswer(answer), answer, durationMs: took() }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { request, verdict: judgeError(error), error: error.message, durationMs: took() }
  }
}

/** What people may read of an attempt: the hook's shown address, and no header that carries a secret. */
function stored({ request, answer, error, durationMs }: Outcome, shownUrl: string) {
  const visible = Object.entries(request.headers).map(([name, value]) => [
    name,
    SECRET_HEADERS.has(name.toLowerCase()) ? '***' : value,
  ])
  return {
    request: { url: shownUrl, method: request.method, headers: Object.fromEntries(visible) },
    response: answer
      ? {
          status: answer.status,
          headers: Object.fromEntries(Object.entries(answer.headers).slice(0, STORED_HEADERS)),
          // PostgreSQL stores no NUL.
          body: answer.body.replaceAll('\0', '\uFFFD'),
          isCut: answer.isCut,
        }
      : null,
    error: error ?? null,
    durationMs,
  }
}
