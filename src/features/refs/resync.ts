import { asc, gt } from 'drizzle-orm'
import { repositories } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { syncRefs } from './sync.ts'

const BATCH = 200

/**
 * Compares the refs of every repository with its folder: what neither a request nor the repair of a crash has recorded, such as refs
 * that somebody changed on the disk by hand.
 */
async function syncAllRefs(context: Context, signal: AbortSignal): Promise<void> {
  const { db, log } = context
  let [after, compared, moved] = [0, 0, 0]
  while (!signal.aborted) {
    const rows = await db
      .select({ id: repositories.id })
      .from(repositories)
      .where(gt(repositories.id, after))
      .orderBy(asc(repositories.id))
      .limit(BATCH)
    for (const { id } of rows) {
      if (signal.aborted) return
      moved += await syncOne(context, id)
      compared += 1
      after = id
    }
    if (rows.length < BATCH) break
  }
  log.info({ compared, moved }, 'refs of all repositories compared')
}

/** One damaged repository must not keep the others from being compared. */
async function syncOne(context: Context, repositoryId: number): Promise<number> {
  try {
    const moves = await syncRefs(context, repositoryId, undefined)
    if (moves.length > 0) context.log.warn({ repositoryId, refs: moves.length }, 'refs that were missed are recorded')
    return moves.length
  } catch (err) {
    if (!isGitError(err, 'not-found'))
      context.log.error({ err, repositoryId }, 'the refs of a repository could not be compared')
    return 0
  }
}

export const resyncTasks: readonly CronTask[] = [
  {
    name: 'sync_repo_branches',
    schedule: '@weekly',
    description: 'Record branches and tags of all repositories as they are on the disk',
    run: syncAllRefs,
  },
]
