import { and, eq, lt, max, min } from 'drizzle-orm'
import { pushes } from '../../../db/schema/refs.ts'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { finishWikiPush } from '../wikis/pushes.ts'
import { findWiki } from '../wikis/store.ts'
import { syncRefs } from './sync.ts'

/** Beyond the longest life of a Git process: time for its bookkeeping. */
const MARGIN_SECONDS = 120
export const longestPushSeconds = ({ gitTimeoutSeconds }: Pick<Config, 'gitTimeoutSeconds'>): number =>
  gitTimeoutSeconds + MARGIN_SECONDS
/** Git holds a lock for moments; one this old belongs to a process that was killed, and nobody could move its ref. */
export const LOCK_SECONDS = 60

/**
 * Compares the refs of every repository that has an open push: after a crash the rows follow within one run. A push that still
 * runs, here or on another replica, is not disturbed: its repository is compared too, which changes nothing, and its intent
 * stays. What killed Git processes left in its folder is removed. Intents go when even a Git process that outlived its server must have ended; until then its repository is compared
 * again with each run, since such a process may still move a ref.
 */
export async function repairPushes(context: Context, signal: AbortSignal): Promise<void> {
  const { db, clock, log, config } = context
  const ageSeconds = longestPushSeconds(config)
  const before = new Date(clock.now().getTime() - ageSeconds * 1000)
  const open = await db
    .select({
      repositoryId: pushes.repositoryId,
      isWiki: pushes.isWiki,
      oldest: min(pushes.createdAt),
      firstPusher: min(pushes.pusherId),
      lastPusher: max(pushes.pusherId),
    })
    .from(pushes)
    .groupBy(pushes.repositoryId, pushes.isWiki)
  for (const { repositoryId, isWiki, oldest, firstPusher, lastPusher } of open) {
    if (signal.aborted) return
    try {
      // With several people it is not known whose push moved a ref: then nobody is named.
      const pusher = firstPusher !== null && firstPusher === lastPusher ? { id: firstPusher } : undefined
      if (isWiki) await repairWiki(context, repositoryId, ageSeconds)
      else await repairCode(context, repositoryId, { pusher, ageSeconds })
      if (oldest === null || oldest >= before) continue
      const ofRepository = and(eq(pushes.repositoryId, repositoryId), eq(pushes.isWiki, isWiki))
      await db.delete(pushes).where(and(ofRepository, lt(pushes.createdAt, before)))
    } catch (err) {
      // One damaged repository must not keep the others from their repair; its intents stay and are tried again.
      log.error({ err, repositoryId }, 'the refs of a repository could not be compared')
    }
  }
}

async function repairCode(
  context: Context,
  repositoryId: number,
  { pusher, ageSeconds }: { pusher: { id: number } | undefined; ageSeconds: number },
): Promise<void> {
  await context.git.cleanStale(repositoryId, ageSeconds, LOCK_SECONDS)
  const moves = await syncRefs(context, repositoryId, pusher)
  if (moves.length > 0)
    context.log.warn({ repositoryId, refs: moves.length }, 'refs of an interrupted push are recorded')
}

async function repairWiki(context: Context, repositoryId: number, ageSeconds: number): Promise<void> {
  const folderId = await findWiki(context.db, repositoryId)
  if (folderId === undefined) return
  await context.git.cleanStale(folderId, ageSeconds, LOCK_SECONDS)
  await finishWikiPush(context, { repositoryId, folderId })
}

export const refTasks: readonly CronTask[] = [
  {
    name: 'repair_pushes',
    schedule: '@every 1m',
    description: 'Record what interrupted pushes have changed',
    run: repairPushes,
  },
]
