import { gt } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { repositoryReservations } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { removeOrphanFolder } from '../repository-creation/reservations.ts'

/**
 * Removes what killed creations have left, at start and by the clock. It looks at reservations and not through the store: a
 * database that is wrong, or older than the folders, makes no folder an orphan.
 */
export async function removeOrphanFolders(context: Context, signal: AbortSignal): Promise<void> {
  let after = 0
  let removed = 0
  for (;;) {
    const ids = await listReservations(context.db, after)
    for (const id of ids) {
      if (signal.aborted) return
      if (await removeOrphanFolder(context, id)) removed += 1
      after = id
    }
    if (ids.length === 0) break
  }
  if (removed > 0) context.log.warn({ removed }, 'folders of interrupted creations were removed')
}

async function listReservations(db: Db, after: number): Promise<number[]> {
  const rows = await db
    .select({ id: repositoryReservations.id })
    .from(repositoryReservations)
    .where(gt(repositoryReservations.id, after))
    .orderBy(repositoryReservations.id)
    .limit(100)
  return rows.map(({ id }) => id)
}

export const orphanTask: CronTask = {
  name: 'remove_orphan_repositories',
  schedule: '@every 10m',
  description: 'Remove the folders of repositories whose creation was interrupted',
  run: removeOrphanFolders,
}
