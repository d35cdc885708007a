import { and, desc, eq, inArray, ne, or } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { collaborations, repositories, stars, watches } from '../../../db/schema/repositories.ts'
import { blocks, follows, type UserRow, users } from '../../../db/schema/users.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

/** Whom a person or an organization has blocked, the newest first. */
export async function listBlocked(db: Db, blockerId: number, page: Page): Promise<Paged<UserRow>> {
  const mine = eq(blocks.blockerId, blockerId)
  const people = db
    .select({ user: users })
    .from(blocks)
    .innerJoin(users, eq(users.id, blocks.blockedId))
    .where(mine)
    .orderBy(desc(blocks.createdAt), desc(users.id))
    .limit(page.limit)
    .offset(page.offset)
  const [rows, total] = await Promise.all([people, db.$count(blocks, mine)])
  return numberedPage(page, { rows: rows.map(({ user }) => user), total })
}

export const countBlocks = (db: Db, blockerId: number): Promise<number> =>
  db.$count(blocks, eq(blocks.blockerId, blockerId))

/** False when there was this block with this note already. */
export async function upsertBlock(
  db: Db,
  { blockerId, blockedId, note }: { blockerId: number; blockedId: number; note: string },
): Promise<boolean> {
  const changed = await db
    .insert(blocks)
    .values({ blockerId, blockedId, note })
    .onConflictDoUpdate({
      target: [blocks.blockerId, blocks.blockedId],
      set: { note },
      setWhere: ne(blocks.note, note),
    })
    .returning({ blockerId: blocks.blockerId })
  return changed.length > 0
}

export async function removeBlock(db: Db, blockerId: number, blockedId: number): Promise<boolean> {
  const gone = await db
    .delete(blocks)
    .where(and(eq(blocks.blockerId, blockerId), eq(blocks.blockedId, blockedId)))
    .returning({ blockerId: blocks.blockerId })
  return gone.length > 0
}

/** Ends what binds the two: they follow each other no more, and neither stars, watches or works on a repository of the other. */
export async function separate(db: Db, one: number, other: number): Promise<void> {
  // In one order, so that two people who block each other at the same moment do not wait for each other.
  const [left, right] = [Math.min(one, other), Math.max(one, other)]
  await db
    .delete(follows)
    .where(
      or(
        and(eq(follows.followerId, left), eq(follows.followedId, right)),
        and(eq(follows.followerId, right), eq(follows.followedId, left)),
      ),
    )
  for (const [userId, ownerId] of [
    [left, right],
    [right, left],
  ] as const) {
    const owned = db.select({ id: repositories.id }).from(repositories).where(eq(repositories.ownerId, ownerId))
    for (const table of [stars, watches, collaborations])
      await db.delete(table).where(and(eq(table.userId, userId), inArray(table.repositoryId, owned)))
  }
}
