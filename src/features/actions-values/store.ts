import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type ActionsValueKind, type ActionsValueRow, actionsValues } from '../../../db/schema/actions-values.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

/** Whose values: of an account for all its repositories, or of one repository. */
export type ValueOwner = { ownerId: number } | { repositoryId: number }

/** The same, and of which kind. A value is only ever looked for below its holder. */
export type Holder = { kind: ActionsValueKind } & ValueOwner

type NewValue = Pick<typeof actionsValues.$inferInsert, 'name' | 'value' | 'sealedValue' | 'description'>

const below = (holder: Holder): SQL | undefined =>
  and(
    eq(actionsValues.kind, holder.kind),
    'ownerId' in holder
      ? eq(actionsValues.ownerId, holder.ownerId)
      : eq(actionsValues.repositoryId, holder.repositoryId),
  )

const named = (holder: Holder, name: string): SQL | undefined => and(below(holder), eq(actionsValues.name, name))

/** By name. */
export async function listValues(db: Db, holder: Holder, page: Page): Promise<Paged<ActionsValueRow>> {
  const byName = db
    .select()
    .from(actionsValues)
    .where(below(holder))
    .orderBy(asc(actionsValues.name))
    .limit(page.limit)
    .offset(page.offset)
  const [rows, total] = await Promise.all([byName, countValues(db, holder)])
  return numberedPage(page, { rows, total })
}

export const countValues = (db: Db, holder: Holder): Promise<number> => db.$count(actionsValues, below(holder))

export async function findValue(db: Db, holder: Holder, name: string): Promise<ActionsValueRow | undefined> {
  const [row] = await db.select().from(actionsValues).where(named(holder, name))
  return row
}

/** Undefined when the name is taken. */
export async function insertValue(tx: Db, holder: Holder, value: NewValue): Promise<ActionsValueRow | undefined> {
  const [row] = await tx
    .insert(actionsValues)
    .values({ ...holder, ...value })
    .onConflictDoNothing()
    .returning()
  return row
}

/**
 * Undefined when there is none of that name. What the change leaves out stays.
 * @throws a broken `actions_values_*_key` when its new name is taken
 */
export async function updateValue(
  tx: Db,
  holder: Holder,
  name: string,
  change: Partial<NewValue>,
): Promise<ActionsValueRow | undefined> {
  const [row] = await tx
    .update(actionsValues)
    .set({ ...change, updatedAt: sql`now()` })
    .where(named(holder, name))
    .returning()
  return row
}

export async function removeValue(tx: Db, holder: Holder, name: string): Promise<ActionsValueRow | undefined> {
  const [row] = await tx.delete(actionsValues).where(named(holder, name)).returning()
  return row
}

/** All values of a kind that jobs of a repository read: its own, and those of its owner that it has none of the same name for. */
export async function readValues(
  db: Db,
  kind: ActionsValueKind,
  { repositoryId, ownerId }: { repositoryId: number; ownerId: number },
): Promise<ActionsValueRow[]> {
  const [shared, own] = await Promise.all([
    db.select().from(actionsValues).where(below({ kind, ownerId })),
    db.select().from(actionsValues).where(below({ kind, repositoryId })),
  ])
  return [...new Map([...shared, ...own].map((row) => [row.name, row])).values()]
}
