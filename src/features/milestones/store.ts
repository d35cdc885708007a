import { and, asc, desc, eq, ilike, or, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { escapeLike } from '../../../db/like.ts'
import { issues, type MilestoneRow, milestones } from '../../../db/schema/issues.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

export interface MilestoneFilter {
  /** Undefined: both. */
  isClosed?: boolean
  name?: string
}

export const countMilestones = (db: Db, repositoryId: number): Promise<number> =>
  db.$count(milestones, eq(milestones.repositoryId, repositoryId))

export async function listMilestones(
  db: Db,
  repositoryId: number,
  { isClosed, name }: MilestoneFilter,
  page: Page,
): Promise<Paged<MilestoneRow>> {
  const matching = and(
    eq(milestones.repositoryId, repositoryId),
    isClosed === undefined ? undefined : eq(milestones.isClosed, isClosed),
    name === undefined ? undefined : ilike(milestones.title, `%${escapeLike(name)}%`),
  )
  const soonestFirst = db
    .select()
    .from(milestones)
    .where(matching)
    .orderBy(sql`${milestones.dueAt} asc nulls last`, asc(milestones.id))
  const [rows, total] = await Promise.all([
    soonestFirst.limit(page.limit).offset(page.offset),
    db.$count(milestones, matching),
  ])
  return numberedPage(page, { rows, total })
}

/** Wire: a milestone is named by its number or by its title. */
export async function findMilestone(
  db: Db,
  repositoryId: number,
  idOrTitle: string,
): Promise<MilestoneRow | undefined> {
  const isId = /^\d{1,15}$/.test(idOrTitle)
  const [row] = await db
    .select()
    .from(milestones)
    .where(
      and(
        eq(milestones.repositoryId, repositoryId),
        isId
          ? or(eq(milestones.id, Number(idOrTitle)), eq(milestones.title, idOrTitle))
          : eq(milestones.title, idOrTitle),
      ),
    )
    .orderBy(isId ? desc(eq(milestones.id, Number(idOrTitle))) : asc(milestones.id))
    .limit(1)
  return row
}

/** Locks the row, so that two changes follow each other. */
export async function lockMilestone(tx: Db, id: number): Promise<MilestoneRow | undefined> {
  const [row] = await tx.select().from(milestones).where(eq(milestones.id, id)).for('no key update')
  return row
}

/** Milestones of the repository that the texts name, by number or by title. */
export function findMilestones(db: Db, repositoryId: number, names: readonly string[]): Promise<MilestoneRow[]> {
  const ids = names.filter((name) => /^\d{1,15}$/.test(name)).map(Number)
  const named = or(anyOf(milestones.title, names), anyOf(milestones.id, ids))
  return db
    .select()
    .from(milestones)
    .where(and(eq(milestones.repositoryId, repositoryId), named))
}

export async function insertMilestone(db: Db, milestone: typeof milestones.$inferInsert): Promise<MilestoneRow> {
  const [row] = await db.insert(milestones).values(milestone).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

export async function updateMilestone(
  db: Db,
  repositoryId: number,
  { id, ...change }: { id: number } & Partial<MilestoneRow>,
): Promise<MilestoneRow | undefined> {
  const [row] = await db
    .update(milestones)
    .set({ ...change, updatedAt: sql`now()` })
    .where(and(eq(milestones.repositoryId, repositoryId), eq(milestones.id, id)))
    .returning()
  return row
}

/** False when somebody else was quicker. */
export async function removeMilestone(tx: Db, repositoryId: number, id: number): Promise<boolean> {
  // Issues before their milestone, as whoever closes one of them locks them.
  await tx
    .update(issues)
    .set({ milestoneId: null })
    .where(and(eq(issues.repositoryId, repositoryId), eq(issues.milestoneId, id)))
  const gone = await tx
    .delete(milestones)
    .where(and(eq(milestones.repositoryId, repositoryId), eq(milestones.id, id)))
    .returning({ id: milestones.id })
  return gone.length > 0
}
