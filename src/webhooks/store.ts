import { and, asc, eq, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../db/any-of.ts'
import type { Db } from '../../db/client.ts'
import { type HookRow, type HookScope, hookDeliveries, hooks, type NewHook } from '../../db/schema/hooks.ts'
import { numberedPage, type Page, type Paged } from '../kernel/page.ts'

/** Whose hook it is. A hook is only ever looked for below its parent. */
export type HookParent =
  | { scopes: readonly Extract<HookScope, 'site' | 'default'>[] }
  | { ownerId: number }
  | { repositoryId: number }

function below(parent: HookParent): SQL | undefined {
  if ('repositoryId' in parent) return and(eq(hooks.scope, 'repository'), eq(hooks.repositoryId, parent.repositoryId))
  if ('ownerId' in parent) return and(eq(hooks.scope, 'owner'), eq(hooks.ownerId, parent.ownerId))
  return anyOf(hooks.scope, parent.scopes)
}

export async function listHooks(db: Db, parent: HookParent, page: Page): Promise<Paged<HookRow>> {
  const mine = below(parent)
  const byId = db.select().from(hooks).where(mine).orderBy(asc(hooks.id)).limit(page.limit).offset(page.offset)
  const [rows, total] = await Promise.all([byId, db.$count(hooks, mine)])
  return numberedPage(page, { rows, total })
}

export const countHooks = (db: Db, parent: HookParent): Promise<number> => db.$count(hooks, below(parent))

export async function findHook(db: Db, parent: HookParent, id: number): Promise<HookRow | undefined> {
  const [row] = await db
    .select()
    .from(hooks)
    .where(and(eq(hooks.id, id), below(parent)))
  return row
}

export async function insertHook(tx: Db, values: NewHook): Promise<HookRow> {
  const [row] = await tx.insert(hooks).values(values).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

/** Locks the row, so that two changes follow each other. */
export async function lockHook(tx: Db, parent: HookParent, id: number): Promise<HookRow | undefined> {
  const [row] = await tx
    .select()
    .from(hooks)
    .where(and(eq(hooks.id, id), below(parent)))
    .for('no key update')
  return row
}

export async function updateHook(
  tx: Db,
  parent: HookParent,
  { id, ...change }: { id: number } & Partial<NewHook>,
): Promise<HookRow | undefined> {
  const [row] = await tx
    .update(hooks)
    .set({ ...change, updatedAt: sql`now()` })
    .where(and(eq(hooks.id, id), below(parent)))
    .returning()
  return row
}

export async function removeHook(tx: Db, parent: HookParent, id: number): Promise<HookRow | undefined> {
  const [gone] = await tx
    .delete(hooks)
    .where(and(eq(hooks.id, id), below(parent)))
    .returning()
  return gone
}

/** Locks hooks whose address is not sealed yet, at most `limit` of them. */
export const lockUnsealed = (tx: Db, limit: number): Promise<Pick<HookRow, 'id' | 'url'>[]> =>
  tx
    .select({ id: hooks.id, url: hooks.url })
    .from(hooks)
    .where(isNull(hooks.sealedUrl))
    .orderBy(asc(hooks.id))
    .limit(limit)
    .for('update')

/** Of a hook that `lockUnsealed` locked. Nothing else of it changes. */
export async function setAddress(tx: Db, id: number, address: Pick<HookRow, 'url' | 'sealedUrl'>): Promise<void> {
  await tx.update(hooks).set(address).where(eq(hooks.id, id))
}

/** Deletes deliveries made before `before`, at most `limit` of them, and returns how many. */
export async function removeOldDeliveries(db: Db, before: Date, limit: number): Promise<number> {
  const oldest = db
    .select({ id: hookDeliveries.id })
    .from(hookDeliveries)
    .where(lt(hookDeliveries.createdAt, before))
    .orderBy(asc(hookDeliveries.createdAt))
    .limit(limit)
  const gone = await db.delete(hookDeliveries).where(inArray(hookDeliveries.id, oldest))
  return gone.count
}

/** Deletes what is over of deliveries beyond the newest `keep` of each hook, at most `limit` of them, and returns how many. */
export async function removeExcessDeliveries(db: Db, keep: number, limit: number): Promise<number> {
  const gone = await db.execute(sql`
    with over as (
      select beyond.id from ${hooks} cross join lateral (
        select id from ${hookDeliveries} where hook_id = hooks.id and state <> 'waiting' order by id desc offset ${keep}) beyond
      limit ${limit})
    delete from ${hookDeliveries} using over where hook_deliveries.id = over.id`)
  return gone.count
}
