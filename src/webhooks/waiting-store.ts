import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { anyOf } from '../../db/any-of.ts'
import type { Db } from '../../db/client.ts'
import { type HookDeliveryRow, type HookRow, hookDeliveries, hooks } from '../../db/schema/hooks.ts'
import { users } from '../../db/schema/users.ts'
import type { TargetType } from './request.ts'

/** Undefined where the hook is paused, inactive or gone. */
export async function findSendingHook(db: Db, id: number): Promise<HookRow | undefined> {
  const [hook] = await db
    .select()
    .from(hooks)
    .where(and(eq(hooks.id, id), eq(hooks.isActive, true), isNull(hooks.pausedAt)))
  return hook
}

/*
 * The first that waits of a subject is found by `>=` and the order: asked for with `=`, PostgreSQL may walk through all deliveries of the
 * hook by their ids instead.
 */

/** Looked at for each delivery that is wanted: of one subject several may wait. */
const LOOK_AHEAD = 4

/**
 * Deliveries of a hook that are due, at most one for each subject: the first that waits. An empty list may also mean that those which
 * are due stand behind others that are not: see `postponeBlocked`.
 */
export async function listDue(db: Db, hookId: number, now: Date, limit: number): Promise<HookDeliveryRow[]> {
  const time = sql`${now.toISOString()}::text::timestamptz`
  const firsts = await db.execute<{ id: number }>(sql`
    with due as (
      select distinct subject from (
        select subject from ${hookDeliveries}
        where hook_id = ${hookId} and state = 'waiting' and next_attempt_at <= ${time}
        order by next_attempt_at, id limit ${limit * LOOK_AHEAD}) oldest)
    select first.id from due cross join lateral (
      select id, next_attempt_at from ${hookDeliveries}
      where hook_id = ${hookId} and subject >= due.subject and state = 'waiting' order by subject, id limit 1) first
    where first.next_attempt_at <= ${time} order by first.id limit ${limit}`)
  if (firsts.length === 0) return []
  // A statement of its own: as one, it read the whole table.
  const ids = firsts.map(({ id }) => id)
  return db.select().from(hookDeliveries).where(anyOf(hookDeliveries.id, ids)).orderBy(asc(hookDeliveries.id))
}

const POSTPONED_AT_ONCE = 1000

/**
 * Deliveries that are due behind one of their subject that is not wait as long as that one: else each look would find them anew.
 * @returns how many were postponed
 */
export async function postponeBlocked(db: Db, hookId: number, now: Date): Promise<number> {
  const time = sql`${now.toISOString()}::text::timestamptz`
  const rows = await db.execute(sql`
    with due as (
      select id, subject from ${hookDeliveries}
      where hook_id = ${hookId} and state = 'waiting' and next_attempt_at <= ${time}
      order by next_attempt_at, id limit ${POSTPONED_AT_ONCE})
    update ${hookDeliveries} set next_attempt_at = first.next_attempt_at
    from due cross join lateral (
      select next_attempt_at from ${hookDeliveries}
      where hook_id = ${hookId} and subject >= due.subject and state = 'waiting' order by subject, id limit 1) first
    where hook_deliveries.id = due.id and first.next_attempt_at > ${time}
    returning hook_deliveries.id`)
  return rows.length
}

/** When the next delivery of a hook is due; undefined where none waits. */
export async function findNextTime(db: Db, hookId: number): Promise<Date | undefined> {
  const [next] = await db
    .select({ at: hookDeliveries.nextAttemptAt })
    .from(hookDeliveries)
    .where(and(eq(hookDeliveries.hookId, hookId), eq(hookDeliveries.state, 'waiting')))
    .orderBy(asc(hookDeliveries.nextAttemptAt), asc(hookDeliveries.id))
    .limit(1)
  return next?.at
}

export type Recorded = Pick<
  HookDeliveryRow,
  'id' | 'state' | 'attempts' | 'nextAttemptAt' | 'request' | 'response' | 'error' | 'durationMs' | 'attemptedAt'
>

/** Writes what came of attempts, in one statement. It names the rows twice: by the list alone they were looked for in the whole table. */
export async function recordAttempts(tx: Db, all: readonly Recorded[]): Promise<void> {
  const ids = all.map(({ id }) => id)
  await tx.execute(sql`
    update ${hookDeliveries} set
      state = done.state, attempts = done.attempts, next_attempt_at = done."nextAttemptAt", request = done.request,
      response = done.response, error = done.error, duration_ms = done."durationMs", attempted_at = done."attemptedAt"
    from jsonb_to_recordset(${JSON.stringify(all)}::text::jsonb) as done (
      id bigint, state text, attempts int, "nextAttemptAt" timestamptz, request jsonb, response jsonb, error text,
      "durationMs" int, "attemptedAt" timestamptz)
    where hook_deliveries.id = done.id and ${anyOf(hookDeliveries.id, ids)}`)
}

/** What the headers say of the hook's owner. */
export async function targetOf(db: Db, { scope, ownerId }: HookRow): Promise<TargetType> {
  if (scope === 'repository') return 'repository'
  if (scope !== 'owner' || ownerId === null) return 'system'
  const [owner] = await db.select({ kind: users.kind }).from(users).where(eq(users.id, ownerId))
  return owner?.kind === 'organization' ? 'organization' : 'user'
}
