import { lt } from 'drizzle-orm'
import { requestWindows } from '../../db/schema/limits.ts'
import type { Context } from '../context.ts'
import type { CronTask } from '../jobs/cron-tasks.ts'
import { tooManyRequests } from '../kernel/errors.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { clientAddress } from './client-address.ts'

/** At most so many in a window, which begins with the first and lasts an hour at most. */
export interface Rule {
  requests: number
  seconds: number
}

function readRule(text: string): Rule | undefined {
  const [, requests, seconds] = /^(\d+)\/(\d+)s$/.exec(text) ?? []
  return requests === undefined ? undefined : { requests: Number(requests), seconds: Number(seconds) }
}

/** A credential counts for itself, wherever it comes from; all that come without one from an address count together. */
function callerKey({ config }: Context, request: Request): string {
  const credential = request.headers.get('authorization')
  return credential === null
    ? `address:${clientAddress(config, request) ?? 'unknown'}`
    : `credential:${sha256Hex(credential)}`
}

/** Counts the request against the caller's window. @throws Refusal 429 as `spend` */
export async function spendRequest(context: Context, request: Request): Promise<void> {
  const rule = readRule(context.config.rateLimit)
  if (rule !== undefined) await spend(context, callerKey(context, request), rule)
}

/**
 * Counts one against the window of a key, in one statement that all replicas share.
 * @throws Refusal 429 with `retry-after` when the window is full
 */
export async function spend({ sql, clock }: Pick<Context, 'sql' | 'clock'>, key: string, rule: Rule): Promise<void> {
  const now = clock.now()
  const expired = new Date(now.getTime() - rule.seconds * 1000)
  const [window] = await sql<{ startedAt: Date; requests: number }[]>`
    insert into request_windows as window_of (caller, started_at, requests) values (${key}, ${now}, 1)
    on conflict (caller) do update set
      requests = case when window_of.started_at <= ${expired} then 1 else window_of.requests + 1 end,
      started_at = case when window_of.started_at <= ${expired} then ${now} else window_of.started_at end
    returning started_at as "startedAt", requests`
  if (window === undefined || window.requests <= rule.requests) return
  const waitMs = window.startedAt.getTime() + rule.seconds * 1000 - now.getTime()
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
