import { and, asc, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type LabelRow, labels } from '../../../db/schema/issues.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

/** A label belongs to exactly one of these. */
export type LabelParent = { repositoryId: number } | { organizationId: number }

const belongsTo = (parent: LabelParent) =>
  'repositoryId' in parent
    ? eq(labels.repositoryId, parent.repositoryId)
    : eq(labels.organizationId, parent.organizationId)

export async function listLabels(db: Db, parent: LabelParent, page: Page): Promise<Paged<LabelRow>> {
  const mine = belongsTo(parent)
  const byName = db.select().from(labels).where(mine).orderBy(asc(labels.name), asc(labels.id))
  const [rows, total] = await Promise.all([byName.limit(page.limit).offset(page.offset), db.$count(labels, mine)])
  return numberedPage(page, { rows, total })
}

export const countLabels = (db: Db, parent: LabelParent): Promise<number> => db.$count(labels, belongsTo(parent))

export async function findLabel(db: Db, parent: LabelParent, id: number): Promise<LabelRow | undefined> {
  const [row] = await db
    .select()
    .from(labels)
    .where(and(belongsTo(parent), eq(labels.id, id)))
  return row
}

/** Wire: the oldest of those that have the name. */
export async function findLabelByName(db: Db, parent: LabelParent, name: string): Promise<LabelRow | undefined> {
  const [row] = await db
    .select()
    .from(labels)
    .where(and(belongsTo(parent), eq(labels.name, name)))
    .orderBy(asc(labels.id))
    .limit(1)
  return row
}

export async function insertLabels(db: Db, rows: (typeof labels.$inferInsert)[]): Promise<LabelRow[]> {
  return rows.length === 0 ? [] : db.insert(labels).values(rows).returning()
}

export async function updateLabel(
  db: Db,
  parent: LabelParent,
  { id, ...change }: { id: number } & Partial<LabelRow>,
): Promise<LabelRow | undefined> {
  const [row] = await db
    .update(labels)
    .set({ ...change, updatedAt: sql`now()` })
    .where(and(belongsTo(parent), eq(labels.id, id)))
    .returning()
  return row
}

export async function removeLabel(db: Db, parent: LabelParent, id: number): Promise<void> {
  await db.delete(labels).where(and(belongsTo(parent), eq(labels.id, id)))
}

/** Several labels may have one name. */
export type WantedLabels = { ids: readonly number[] } | { names: readonly string[] }

interface Place {
  repositoryId: number
  ownerId: number
}

/**
 * The labels that an issue of this repository may carry, the repository's own and its organization's, in the order in which they are wanted.
 */
export const findUsableLabels = async (db: Db, place: Place, wanted: WantedLabels): Promise<LabelRow[]> =>
  inWantedOrder(await usable(db, place, wanted), wanted)

/** The same, held until the transaction ends: whoever changes or deletes one of these labels waits. */
export const holdUsableLabels = async (tx: Db, place: Place, wanted: WantedLabels): Promise<LabelRow[]> =>
  inWantedOrder(await usable(tx, place, wanted).for('share'), wanted)

function usable(db: Db, place: Place, wanted: WantedLabels) {
  const which = 'ids' in wanted ? anyOf(labels.id, wanted.ids) : anyOf(labels.name, wanted.names)
  return db
    .select()
    .from(labels)
    .where(and(sql`(${belongsTo(place)} or ${belongsTo({ organizationId: place.ownerId })})`, which))
    .orderBy(asc(labels.id))
    .$dynamic()
}

function inWantedOrder(found: readonly LabelRow[], wanted: WantedLabels): LabelRow[] {
  if ('ids' in wanted) {
    const byId = Map.groupBy(found, ({ id }) => id)
    return wanted.ids.flatMap((id) => byId.get(id) ?? [])
  }
  const byName = Map.groupBy(found, ({ name }) => name)
  return wanted.names.flatMap((name) => byName.get(name) ?? [])
}
