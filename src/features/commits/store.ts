import { and, eq, or } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'

/** Id of an owner's fork of a repository, or of the repository that it was forked from, if that is the owner's. */
export async function findRelatedId(
  db: Db,
  { id, parentId }: Pick<RepositoryRow, 'id' | 'parentId'>,
  owner: string,
): Promise<number | undefined> {
  const isParent = parentId === null ? undefined : eq(repositories.id, parentId)
  const [found] = await db
    .select({ id: repositories.id })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(eq(users.lowerName, owner.toLowerCase()), or(eq(repositories.parentId, id), isParent)))
    .limit(1)
  return found?.id
}
