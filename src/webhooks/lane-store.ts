import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { type HookDeliveryRow, type HookRow, hookDeliveries, hooks } from '../../db/schema/hooks.ts'
import { users } from '../../db/schema/users.ts'
import type { TargetType } from './request.ts'

/** Deliveries of one hook for one subject. */
export interface Lane {
  hookId: number
  subject: string
}

/** The first delivery that waits in the lane, with its hook; undefined where none does, or the hook is paused, inactive or gone. */
export async function findLane(
  db: Db,
  { hookId, subject }: Lane,
): Promise<{ hook: HookRow; delivery: HookDeliveryRow } | undefined> {
  const [found] = await db
    .select({ hook: hooks, delivery: hookDeliveries })
    .from(hookDeliveries)
    .innerJoin(hooks, eq(hooks.id, hookDeliveries.hookId))
    .where(
      and(
        eq(hookDeliveries.hookId, hookId),
        eq(hookDeliveries.subject, subject),
        eq(hookDeliveries.state, 'waiting'),
        eq(hooks.isActive, true),
        isNull(hooks.pausedAt),
      ),
    )
    .orderBy(asc(hookDeliveries.id))
    .limit(1)
  return found
}

/** The lanes of a hook in which something waits. */
export async function listLanes(db: Db, hookId: number): Promise<Lane[]> {
  return db
    .selectDistinct({ hookId: hookDeliveries.hookId, subject: hookDeliveries.subject })
    .from(hookDeliveries)
    .where(and(eq(hookDeliveries.hookId, hookId), eq(hookDeliveries.state, 'waiting')))
}

/** What the receiver learns about the owner of the hook. */
export async function targetOf(db: Db, { scope, ownerId }: HookRow): Promise<TargetType> {
  if (scope === 'repository') return 'repository'
  if (scope !== 'owner' || ownerId === null) return 'system'
  const [owner] = await db.select({ kind: users.kind }).from(users).where(eq(users.id, ownerId))
  return owner?.kind === 'organization' ? 'organization' : 'user'
}
