import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { repositories, repositoryReservations } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { isWikiFolder } from '../wikis/store.ts'

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
    const isAlive = (await tx.$count(repositories, eq(repositories.id, id))) > 0 || (await isWikiFolder(tx, id))
    if (!isAlive) await context.git.removeRepository(id)
    await tx.delete(repositoryReservations).where(eq(repositoryReservations.id, id))
    return !isAlive
  })
}
