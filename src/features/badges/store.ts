import { and, asc, eq } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type BadgeRow, badges, userBadges } from '../../../db/schema/users.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

export async function listUserBadges(db: Db, userId: number, page: Page): Promise<Paged<BadgeRow>> {
  const mine = eq(userBadges.userId, userId)
  const bySlug = db
    .select({ badge: badges })
    .from(userBadges)
    .innerJoin(badges, eq(badges.id, userBadges.badgeId))
    .where(mine)
    .orderBy(asc(badges.slug))
    .limit(page.limit)
    .offset(page.offset)
  const [rows, total] = await Promise.all([bySlug, db.$count(userBadges, mine)])
  return numberedPage(page, { rows: rows.map(({ badge }) => badge), total })
}

export async function listBadges(db: Db, page: Page): Promise<Paged<BadgeRow>> {
  const bySlug = db.select().from(badges).orderBy(asc(badges.slug)).limit(page.limit).offset(page.offset)
  const [rows, total] = await Promise.all([bySlug, db.$count(badges)])
  return numberedPage(page, { rows, total })
}

export function findBadges(db: Db, slugs: readonly string[]): Promise<BadgeRow[]> {
  return db.select().from(badges).where(anyOf(badges.slug, slugs))
}

export async function giveBadges(db: Db, userId: number, given: readonly BadgeRow[]): Promise<void> {
  if (given.length === 0) return
  await db
    .insert(userBadges)
    .values(given.map(({ id }) => ({ userId, badgeId: id })))
    .onConflictDoNothing()
}

export async function takeBadges(db: Db, userId: number, taken: readonly BadgeRow[]): Promise<void> {
  const ids = taken.map(({ id }) => id)
  await db.delete(userBadges).where(and(eq(userBadges.userId, userId), anyOf(userBadges.badgeId, ids)))
}

export async function insertBadge(db: Db, badge: typeof badges.$inferInsert): Promise<BadgeRow> {
  const [row] = await db.insert(badges).values(badge).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

export async function updateBadge(
  db: Db,
  slug: string,
  change: Partial<typeof badges.$inferInsert>,
): Promise<BadgeRow | undefined> {
  const [row] = await db.update(badges).set(change).where(eq(badges.slug, slug)).returning()
  return row
}

export async function removeBadge(db: Db, slug: string): Promise<BadgeRow | undefined> {
  const [row] = await db.delete(badges).where(eq(badges.slug, slug)).returning()
  return row
}
