import { and, eq, gt, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { repositories, repositoryReservations } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'

/**
 * Takes the id of a repository to be and makes it known at once that its folder may come into being. Not waited for until it is
 * on the database's disk: after a failure of the database server a folder may stay behind, which is found by `doctor`.
 */
export async function reserveRepositoryId(db: Db): Promise<number> {
  const rows = await db.execute<{ id: number }>(sql`
    with quickly as (select set_config('synchronous_commit', 'off', true))
    insert into ${repositoryReservations} (id) select nextval('repositories_id_seq') from quickly returning id`)
  const id = rows[0]?.id
  if (id === undefined) throw new Error('insert returned no row')
  return id
}

/**
 * Begins a creation: from here to the end of the transaction no search for orphans touches the folder, and the reservation is
 * gone exactly when the repository is there. False when such a search was quicker: then another id must be taken.
 */
export async function claimReservation(tx: Db, id: number): Promise<boolean> {
  const gone = await tx
    .delete(repositoryReservations)
    .where(eq(repositoryReservations.id, id))
    .returning({ id: repositoryReservations.id })
  return gone.length > 0
}

/** Removes one folder whose creation did not end; does nothing while a creation or another search has it. */
export async function removeOrphanFolder(context: Context, id: number): Promise<boolean> {
  return context.db.transaction(async (tx) => {
    const [reservation] = await tx
      .select({ id: repositoryReservations.id })
      .from(repositoryReservations)
      .where(eq(repositoryReservations.id, id))
      .for('update', { skipLocked: true })
    if (!reservation) return false
    // Cannot be: the row and the end of the reservation are one transaction. But what follows cannot be undone.
    const isAlive = (await tx.$count(repositories, eq(repositories.id, id))) > 0
    if (!isAlive) await context.git.removeRepository(id)
    await tx.delete(repositoryReservations).where(eq(repositoryReservations.id, id))
    return !isAlive
  })
}

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
    .where(and(gt(repositoryReservations.id, after)))
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
