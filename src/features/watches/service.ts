import { and, desc, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RepositoryRow, repositories, watches } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'
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

/** Somebody is no longer notified of what happens in a repository, but for issues that they subscribed to. */
export async function ignore({ db, clock }: Context, actor: Actor, repositoryId: number): Promise<void> {
  await db
    .insert(watches)
    .values({ userId: actor.user.id, repositoryId, isSubscribed: false, createdAt: clock.now() })
    .onConflictDoUpdate({ target: [watches.userId, watches.repositoryId], set: { isSubscribed: false } })
}

/** Neither watching nor ignoring: what somebody takes part in is news for them, and nothing else. */
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

export interface ListedWatch {
  watch: WatchRow
  ownerName: string
  repositoryName: string
}

/** What somebody watches or ignores, the newest first, without what they may not see any more. Read by page numbers alone. */
export async function listWatches({ db, config }: Context, actor: Actor, page: Page): Promise<Paged<ListedWatch>> {
  const wanted = and(eq(watches.userId, actor.user.id), visibleTo(config, actor))
  const ofWatch = eq(repositories.id, watches.repositoryId)
  const ofRepository = eq(users.id, repositories.ownerId)
  const [rows, total] = await Promise.all([
    db
      .select({ watch: watches, ownerName: users.name, repositoryName: repositories.name })
      .from(watches)
      .innerJoin(repositories, ofWatch)
      .innerJoin(users, ofRepository)
      .where(wanted)
      .orderBy(desc(watches.createdAt), desc(watches.repositoryId))
      .limit(page.limit)
      .offset(page.offset),
    db.$count(
      db
        .select({ id: repositories.id })
        .from(watches)
        .innerJoin(repositories, ofWatch)
        .innerJoin(users, ofRepository)
        .where(wanted)
        .as('watched'),
    ),
  ])
  return numberedPage(page, { rows, total })
}
