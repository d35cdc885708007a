import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RepositoryRow, watches } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Page, Paged } from '../../kernel/page.ts'
import { listPeople, requireUnblocked } from '../repositories/people.ts'

export type WatchRow = typeof watches.$inferSelect

/** @throws Refusal 404 when the person does not watch the repository */
export async function getWatch(db: Db, userId: number, repositoryId: number): Promise<WatchRow> {
  const [row] = await db
    .select()
    .from(watches)
    .where(and(eq(watches.userId, userId), eq(watches.repositoryId, repositoryId), eq(watches.isSubscribed, true)))
  if (!row) throw notFound()
  return row
}

/** @throws Refusal 403 for somebody whom the owner has blocked */
export async function watch(context: Context, actor: Actor, repository: RepositoryRow): Promise<WatchRow> {
  const row = { userId: actor.user.id, repositoryId: repository.id, createdAt: context.clock.now() }
  return context.db.transaction(async (tx) => {
    await requireUnblocked(tx, actor, repository)
    const [watched] = await tx
      .insert(watches)
      .values(row)
      .onConflictDoUpdate({ target: [watches.userId, watches.repositoryId], set: { isSubscribed: true } })
      .returning()
    if (!watched) throw new Error('insert returned no row')
    return watched
  })
}

export async function unwatch(db: Db, userId: number, repositoryId: number): Promise<void> {
  await db.delete(watches).where(and(eq(watches.userId, userId), eq(watches.repositoryId, repositoryId)))
}

/** Who watches a repository, who began first comes first, as far as the reader may know of them. */
export function listWatchers(
  context: Context,
  actor: Actor | undefined,
  repositoryId: number,
  page: Page,
): Promise<Paged<UserRow>> {
  return listPeople(context, actor, { table: watches, repositoryId, page })
}
