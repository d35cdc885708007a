import { eq } from 'drizzle-orm'
import { type HookDeliveryRow, type HookRow, hooks } from '../../db/schema/hooks.ts'
import type { Context } from '../context.ts'
import type { JobHandlers, JobRun } from '../jobs/handlers.ts'
import type { OutboundAnswer } from '../outbound/client.ts'
import type { OutboundRequest } from '../outbound/follow.ts'
import { OutboundError } from '../outbound/outbound-error.ts'
import { PER_HOST } from '../outbound/places.ts'
import { openAddress } from './address.ts'
import { wakeHookLater, wakeHooks } from './deliveries.ts'
import { pauseIfDead } from './pause.ts'
import { hookRequest, SECRET_HEADERS } from './request.ts'
import { judgeAnswer, judgeError, MAX_ATTEMPTS, nextAttempt, type Verdict } from './retry.ts'
import {
  findNextTime,
  findSendingHook,
  listDue,
  postponeBlocked,
  type Recorded,
  recordAttempts,
  targetOf,
} from './waiting-store.ts'

/** Rounds of one job before others have their turn. */
const MAX_ROUNDS = 20
/** Where all places of a host are taken. */
const NO_PLACE_MS = 1000
/** Answers are stored for people to read, not for programs. */
const STORED_HEADERS = 40

/**
 * Sends what waits for one hook, in rounds: of each subject the first delivery that waits, several subjects side by side. What fails for
 * now stays the first of its subject until its time. Requests whose answers were not recorded are repeated with the same ids.
 */
export const hookHandlers: Pick<JobHandlers, 'webhooks.send'> = {
  async 'webhooks.send'(context, { hookId }, run) {
    const { db, clock } = context
    for (let round = 0; round < MAX_ROUNDS; round++) {
      run.signal.throwIfAborted()
      const hook = await findSendingHook(db, hookId)
      if (hook === undefined) return
      const did = await sendRound(context, hook, run)
      const now = clock.now()
      if (did === 'no place') return wakeHookLater(db, hookId, new Date(now.getTime() + NO_PLACE_MS))
      const next = await findNextTime(db, hookId)
      if (next === undefined) return
      if (next > now) return wakeHookLater(db, hookId, next)
      if (did === 'nothing due') await postponeBlocked(db, hookId, now)
    }
    await wakeHooks(db, [hookId])
  },
}

async function sendRound(context: Context, hook: HookRow, run: JobRun): Promise<'sent' | 'nothing due' | 'no place'> {
  const url = openAddress(context, hook)
  const due = await listDue(context.db, hook.id, context.clock.now(), PER_HOST)
  if (due.length === 0) return 'nothing due'
  const credentials = await credentialsOf(context, hook)
  const places = context.hostPlaces.take(new URL(url).host, due.length, hook.failingSince !== null)
  if (places === undefined) return 'no place'
  const sendOne = (delivery: HookDeliveryRow) => sendOnce(context, { hook, delivery, url, ...credentials }, run.signal)
  const outcomes = await Promise.all(due.slice(0, places.count).map(sendOne)).finally(places.giveBack)
  await record(context, { hook, outcomes }, run)
  return 'sent'
}

async function credentialsOf({ db, secrets }: Context, hook: HookRow) {
  const { secret, authorizationHeader } = hook
  return {
    secret: secret === null ? '' : secrets.open('hook secret', secret),
    authorization: authorizationHeader === null ? '' : secrets.open('hook authorization', authorizationHeader),
    target: await targetOf(db, hook),
  }
}

interface Attempt extends Awaited<ReturnType<typeof credentialsOf>> {
  hook: HookRow
  delivery: HookDeliveryRow
  url: string
}

interface Outcome {
  delivery: HookDeliveryRow
  request: OutboundRequest
  verdict: Verdict
  answer?: OutboundAnswer
  error?: string
  durationMs: number
}

async function sendOnce(
  { outbound, clock }: Context,
  { hook, delivery, ...rest }: Attempt,
  signal: AbortSignal,
): Promise<Outcome> {
  const { type, httpMethod, contentType } = hook
  const { uuid, eventType, payload } = delivery
  const request = hookRequest({
    ...{ type, httpMethod, contentType, uuid, eventType, payload },
    ...rest,
    now: clock.now(),
  })
  const startedAt = performance.now()
  const took = () => Math.round(performance.now() - startedAt)
  try {
    const answer = await outbound.send(request, signal)
    return { delivery, request, verdict: judgeAnswer(answer), answer, durationMs: took() }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { delivery, request, verdict: judgeError(error), error: error.message, durationMs: took() }
  }
}

/** Writes how a round ended, unless somebody else has taken the hook over. */
async function record(
  context: Context,
  { hook, outcomes }: { hook: HookRow; outcomes: readonly Outcome[] },
  run: JobRun,
): Promise<void> {
  const now = context.clock.now()
  const isDelivered = outcomes.some(({ verdict }) => verdict === 'delivered')
  await context.db.transaction(async (tx) => {
    await run.holdLease(tx)
    await recordAttempts(
      tx,
      outcomes.map((outcome) => recordOf(outcome, hook.url, now)),
    )
    if (!isDelivered && hook.failingSince !== null) return pauseIfDead(context, tx, hook)
    if (isDelivered === (hook.failingSince === null)) return
    const failingSince = isDelivered ? null : now
    await tx.update(hooks).set({ failingSince }).where(eq(hooks.id, hook.id))
  })
}

/** What people may read of an attempt: the hook's shown address, and no header that carries a secret. */
function recordOf(outcome: Outcome, shownUrl: string, now: Date): Recorded {
  const { delivery, request, verdict, answer, error, durationMs } = outcome
  const attempts = delivery.attempts + 1
  const isOver = verdict !== 'again' || attempts >= MAX_ATTEMPTS
  const visible = Object.entries(request.headers).map(([name, value]) => [
    name,
    SECRET_HEADERS.has(name.toLowerCase()) ? '***' : value,
  ])
  return {
    id: delivery.id,
    state: verdict === 'delivered' ? 'delivered' : isOver ? 'failed' : 'waiting',
    attempts,
    nextAttemptAt: isOver ? now : nextAttempt(attempts, now, answer?.headers['retry-after']),
    attemptedAt: now,
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
