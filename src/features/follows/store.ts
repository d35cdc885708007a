import { and, eq, type SQL } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { follows, type UserRow, users } from '../../../db/schema/users.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'

/** Which end of the relation is listed, of whom. */
export type FollowList = { followersOf: number } | { followedBy: number }

const since: SortKey = { key: follows.createdAt, type: 'timestamptz', isDescending: true }

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
  const keys: SortKey[] = [since, { key: listed, type: 'bigint', isDescending: true }]
  const people = db
    .select({ user: users, since: positionText(since) })
    .from(follows)
    .innerJoin(users, eq(users.id, listed))
    .where(and(wanted, visible, afterPosition(keys, page.after)))
    .orderBy(inOrder(keys))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const everybody = db
    .select({ id: users.id })
    .from(follows)
    .innerJoin(users, eq(users.id, listed))
    .where(and(wanted, visible))
  const [rows, total] = await Promise.all([people, db.$count(everybody)])
  const found = cutPage(page, { rows, total }, ({ user, since }) => [since, String(user.id)])
  return { ...found, rows: found.rows.map(({ user }) => user) }
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
