import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RepositoryRow, stars } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import type { Page, Paged } from '../../kernel/page.ts'
import { listPeople, requireUnblocked } from '../repositories/people.ts'
import { subjectOf } from '../repositories/subject.ts'

/** @throws Refusal 403 for somebody whom the owner has blocked */
export async function star(context: Context, actor: Actor, repository: RepositoryRow): Promise<void> {
  const row = { userId: actor.user.id, repositoryId: repository.id, createdAt: context.clock.now() }
  await context.db.transaction(async (tx) => {
    await requireUnblocked(tx, actor, repository)
    const added = await tx.insert(stars).values(row).onConflictDoNothing().returning({ id: stars.repositoryId })
    if (added.length > 0) await appendEvent(tx, { ...subjectOf(repository, actor), kind: 'star.added', payload: {} })
  })
}

export async function unstar({ db }: Context, actor: Actor, repository: RepositoryRow): Promise<void> {
  await db.transaction(async (tx) => {
    const gone = await tx
      .delete(stars)
      .where(and(eq(stars.userId, actor.user.id), eq(stars.repositoryId, repository.id)))
      .returning({ id: stars.repositoryId })
    if (gone.length > 0) await appendEvent(tx, { ...subjectOf(repository, actor), kind: 'star.removed', payload: {} })
  })
}

export async function isStarred(db: Db, userId: number, repositoryId: number): Promise<boolean> {
  return (await db.$count(stars, and(eq(stars.userId, userId), eq(stars.repositoryId, repositoryId)))) > 0
}

/** Who starred a repository, first the first, as far as the reader may know of them. */
export function listStargazers(
  context: Context,
  actor: Actor | undefined,
  repositoryId: number,
  page: Page,
): Promise<Paged<UserRow>> {
  return listPeople(context, actor, { table: stars, repositoryId, page })
}
