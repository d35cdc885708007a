import { and, desc, eq, type SQL } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { follows, type UserRow, users } from '../../../db/schema/users.ts'
import type { Page, Paged } from '../../kernel/page.ts'

/** Which end of the relation is listed, of whom. */
export type FollowList = { followersOf: number } | { followedBy: number }

/** The newest first. `visible`: whom the reader may know of, as a condition over `users`. */
export async function listFollows(
  db: Db,
  list: FollowList,
  { visible, page }: { visible: SQL; page: Page },
): Promise<Paged<UserRow>> {
  const [listed, wanted] =
    'followersOf' in list
      ? [follows.followerId, eq(follows.followedId, list.followersOf)]
      : [follows.followedId, eq(follows.followerId, list.followedBy)]
  const people = db
    .select({ user: users })
    .from(follows)
    .innerJoin(users, eq(users.id, listed))
    .where(and(wanted, visible))
    .orderBy(desc(follows.createdAt), desc(users.id))
    .limit(page.limit)
    .offset(page.offset)
  const everybody = db
    .select({ id: users.id })
    .from(follows)
    .innerJoin(users, eq(users.id, listed))
    .where(and(wanted, visible))
  const [rows, total] = await Promise.all([people, db.$count(everybody)])
  return { rows: rows.map(({ user }) => user), total }
}

export async function isFollowing(db: Db, followerId: number, followedId: number): Promise<boolean> {
  const [row] = await db
    .select({ followerId: follows.followerId })
    .from(follows)
    .where(and(eq(follows.followerId, followerId), eq(follows.followedId, followedId)))
  return row !== undefined
}

/** The counters of both follow by a trigger. */
export async function insertFollow(db: Db, followerId: number, followedId: number): Promise<void> {
  await db.insert(follows).values({ followerId, followedId }).onConflictDoNothing()
}

export async function removeFollow(db: Db, followerId: number, followedId: number): Promise<void> {
  await db.delete(follows).where(and(eq(follows.followerId, followerId), eq(follows.followedId, followedId)))
}
