import { and, asc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm'
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
  return inArray(hooks.scope, [...parent.scopes])
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

/** Gives a new repository the hooks that the site has for such, each once however often this runs. */
export async function copyDefaultHooks(db: Db, repositoryId: number): Promise<void> {
  await db.execute(sql`
    insert into ${hooks} (scope, repository_id, copied_from_id, type, name, url, content_type, http_method, settings, secret,
      authorization_header, events, branch_filter, is_active)
    select 'repository', repositories.id, given.id, given.type, given.name, given.url, given.content_type, given.http_method,
      given.settings, given.secret, given.authorization_header, given.events, given.branch_filter, given.is_active
    from ${hooks} as given join repositories on repositories.id = ${repositoryId}
    where given.scope = 'default' order by given.id
    on conflict do nothing`)
}

/** Deletes deliveries made before `before`, at most `limit` of them, and returns how many. */
export async function removeOldDeliveries(db: Db, before: Date, limit: number): Promise<number> {
  const oldest = db
    .select({ id: hookDeliveries.id })
    .from(hookDeliveries)
    .where(lt(hookDeliveries.createdAt, before))
    .orderBy(asc(hookDeliveries.createdAt))
    .limit(limit)
  const gone = await db
    .delete(hookDeliveries)
    .where(inArray(hookDeliveries.id, oldest))
    .returning({ id: hookDeliveries.id })
  return gone.length
}
