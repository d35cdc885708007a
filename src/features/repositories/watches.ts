import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RepositoryRow, watches } from '../../../db/schema/repositories.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { requireUnblocked } from './stars.ts'

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
  await requireUnblocked(context, actor, repository)
  const row = { userId: actor.user.id, repositoryId: repository.id, createdAt: context.clock.now() }
  await context.db
    .insert(watches)
    .values(row)
    .onConflictDoUpdate({ target: [watches.userId, watches.repositoryId], set: { isSubscribed: true } })
  return getWatch(context.db, actor.user.id, repository.id)
}

export async function unwatch(db: Db, userId: number, repositoryId: number): Promise<void> {
  await db.delete(watches).where(and(eq(watches.userId, userId), eq(watches.repositoryId, repositoryId)))
}
