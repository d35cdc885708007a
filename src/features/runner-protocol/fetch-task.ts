import type { HandlerContext } from '@connectrpc/connect'
import { and, eq, isNull, lt, or } from 'drizzle-orm'
import { actionsRunners } from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import { type ClaimedJob, claimJob } from '../actions-runs/claim.ts'
import type { News } from '../actions-runs/news.ts'
import { requireRunner } from './caller.ts'

/** How long a request waits for work. Runners that give it less time get it, with a rest for the way back. */
const WAIT_MS = 3000
const WAY_BACK_MS = 500
const HEARTBEAT_MS = 10_000

/** A job for the runner; undefined when none has come while it waited. @throws Refusal 401 */
export async function fetchTask(context: Context, queued: News, call: HandlerContext): Promise<ClaimedJob | undefined> {
  const runner = await requireRunner(context, call)
  await beat(context, runner.id)
  const waitMs = Math.min(WAIT_MS, (call.timeoutMs() ?? Number.POSITIVE_INFINITY) - WAY_BACK_MS)
  const over = AbortSignal.any([call.signal, context.stopping, AbortSignal.timeout(Math.max(0, waitMs))])
  const ended = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }))
  for (;;) {
    const news = queued.next()
    // Who has hung up already would lose the job.
    const job = call.signal.aborted ? undefined : await claimJob(context, runner)
    if (job || over.aborted) return job
    await Promise.race([news, ended])
  }
}

/** Notes that the runner is there, every few requests. */
async function beat({ db, clock }: Context, id: number): Promise<void> {
  const now = clock.now()
  const before = new Date(now.getTime() - HEARTBEAT_MS)
  await db
    .update(actionsRunners)
    .set({ lastSeenAt: now })
    .where(and(eq(actionsRunners.id, id), or(isNull(actionsRunners.lastSeenAt), lt(actionsRunners.lastSeenAt, before))))
}
