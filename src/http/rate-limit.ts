import { lt } from 'drizzle-orm'
import { requestWindows } from '../../db/schema/limits.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import type { CronTask } from '../jobs/cron-tasks.ts'
import { tooManyRequests } from '../kernel/errors.ts'
import { networkOf } from '../kernel/network.ts'
import { clientAddress, type Exchange, pathOf } from './exchange.ts'

/** At most so many in a window, which begins with the first and lasts an hour at most. */
export interface Rule {
  requests: number
  seconds: number
}

/** A wrong credential costs more than a visit: whoever guesses reaches the limit sooner. */
const WRONG_CREDENTIAL_COST = 10

/** Asked by whoever watches over the service, as often as they like. */
const PROBE = '/api/healthz'

/** Counts a request of a caller who is proven. @throws Refusal 429 as `spend` */
export function countCaller(context: Context, exchange: Exchange, { method, tokenId, user }: Actor): Promise<void> {
  return count(context, exchange, {
    key: () => (tokenId === undefined ? `account:${user.id}` : `${method}:${tokenId}`),
  })
}

/** Counts a request of a job runner. @throws Refusal 429 as `spend` */
export const countRunner = (context: Context, exchange: Exchange, runnerId: number): Promise<void> =>
  count(context, exchange, { key: () => `runner:${runnerId}` })

/** Counts a request that a job makes beside the API, with those by its other token. @throws Refusal 429 as `spend` */
export const countJob = (context: Context, exchange: Exchange, taskId: number): Promise<void> =>
  count(context, exchange, { key: () => `job:${taskId}` })

/** Counts a request with a credential that was wrong, against its address. @throws Refusal 429 as `spend` */
export const countWrongCredential = (context: Context, exchange: Exchange): Promise<void> =>
  count(context, exchange, { key: () => addressKey(context, exchange), cost: WRONG_CREDENTIAL_COST })

/** Counts any other request against its address, unless it was counted already. @throws Refusal 429 as `spend` */
export async function countVisitor(context: Context, exchange: Exchange): Promise<void> {
  if (pathOf(exchange.url) !== PROBE) await count(context, exchange, { key: () => addressKey(context, exchange) })
}

async function count(
  context: Context,
  exchange: Exchange,
  { key, cost = 1 }: { key: () => string; cost?: number },
): Promise<void> {
  const rule = readRule(context.config.rateLimit)
  if (rule === undefined || exchange.isCounted) return
  exchange.isCounted = true
  await spend(context, key(), { ...rule, cost })
}

function readRule(text: string): Rule | undefined {
  const [, requests, seconds] = /^(\d+)\/(\d+)s$/.exec(text) ?? []
  return requests === undefined ? undefined : { requests: Number(requests), seconds: Number(seconds) }
}

/** The unproven share one row for each address, whatever they say of themselves. */
function addressKey({ config }: Context, exchange: Exchange): string {
  const address = clientAddress(config, exchange)
  return `address:${address === undefined ? 'unknown' : networkOf(address)}`
}

/**
 * Counts against the window of a key, in one statement that all replicas share.
 * @throws Refusal 429 with `retry-after` when the window is full
 */
export async function spend(
  { sql, clock }: Pick<Context, 'sql' | 'clock'>,
  key: string,
  { requests, seconds, cost = 1 }: Rule & { cost?: number },
): Promise<void> {
  const now = clock.now()
  const expired = new Date(now.getTime() - seconds * 1000)
  const [window] = await sql<{ startedAt: Date; requests: number }[]>`
    insert into request_windows as window_of (caller, started_at, requests) values (${key}, ${now}, ${cost})
    on conflict (caller) do update set
      requests = case when window_of.started_at <= ${expired} then ${cost} else window_of.requests + ${cost} end,
      started_at = case when window_of.started_at <= ${expired} then ${now} else window_of.started_at end
    returning started_at as "startedAt", requests`
  if (window === undefined || window.requests <= requests) return
  const waitMs = window.startedAt.getTime() + seconds * 1000 - now.getTime()
  throw tooManyRequests('too many requests: wait and try again', Math.max(1, Math.ceil(waitMs / 1000)))
}

const HOUR_MS = 3_600_000

export const rateLimitTasks: readonly CronTask[] = [
  {
    name: 'delete_old_request_windows',
    schedule: '@every 1h',
    description: 'Forget the request counts of callers that have been silent for an hour',
    async run({ db, clock }) {
      await db.delete(requestWindows).where(lt(requestWindows.startedAt, new Date(clock.now().getTime() - HOUR_MS)))
    },
  },
]
