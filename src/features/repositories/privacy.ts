import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'

/**
 * Whether what is forked from a repository must be private, for nobody may see more through a fork. The repository stays as open or
 * as private as it is until the transaction ends. Undefined when it is gone.
 */
export async function requiresPrivateForks(tx: Db, id: number): Promise<boolean | undefined> {
  const [parent] = await tx
    .select({ isPrivate: repositories.isPrivate, visibility: users.visibility })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(eq(repositories.id, id))
    .for('share', { of: repositories })
  return parent && (parent.isPrivate || parent.visibility !== 'public')
}

/** Makes everything private that was forked from a repository, or from a fork of it. */
export async function hideForks(tx: Db, id: number, at: Date): Promise<void> {
  await tx.execute(sql`
    with recursive below as (
      select id from ${repositories} where parent_id = ${id}
      union select fork.id from ${repositories} as fork join below on fork.parent_id = below.id)
    update ${repositories} set is_private = true, updated_at = ${at.toISOString()}::timestamptz
    where id in (select id from below) and not is_private`)
}
