import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { actionsRuns, actionsStandingTriggers, type StandingTriggerRow } from '../../../db/schema/actions.ts'
import { refs } from '../../../db/schema/refs.ts'
import { repositories } from '../../../db/schema/repositories.ts'

/** Whether a workflow of the default branch waits for such an event. */
export async function hasStanding(db: Db, repositoryId: number, event: StandingTriggerRow['event']): Promise<boolean> {
  const own = and(eq(actionsStandingTriggers.repositoryId, repositoryId), eq(actionsStandingTriggers.event, event))
  const [row] = await db.select({ id: actionsStandingTriggers.id }).from(actionsStandingTriggers).where(own).limit(1)
  return row !== undefined
}

/** How many runs have come of one, by `workflow_run`. */
export const countChained = (db: Db, rootId: number): Promise<number> =>
  db.$count(actionsRuns, eq(actionsRuns.chainRootId, rootId))

/** What a commit of the default branch says. */
export type StandingTrigger = Pick<StandingTriggerRow, 'event' | 'cron' | 'timezone'> & { nextAt: Date | null }

/** Holds the tip of the default branch where it is, until the transaction ends. False when it is elsewhere. */
export async function holdTip(
  tx: Db,
  { id, defaultBranch }: { id: number; defaultBranch: string },
  sha: string,
): Promise<boolean> {
  const [row] = await tx
    .select({ name: refs.name })
    .from(repositories)
    .innerJoin(refs, and(eq(refs.repositoryId, repositories.id), eq(refs.name, repositories.defaultBranch)))
    .where(and(eq(repositories.id, id), eq(refs.kind, 'branch'), eq(refs.name, defaultBranch), eq(refs.sha, sha)))
    .for('share', { of: refs })
  return row !== undefined
}

/** From now on these stand, and no others. One that stood before stays due when it was. */
export async function replaceStanding(
  tx: Db,
  { repositoryId, actorId }: { repositoryId: number; actorId: number | null },
  wanted: readonly StandingTrigger[],
): Promise<void> {
  const own = eq(actionsStandingTriggers.repositoryId, repositoryId)
  const rows = await tx.select().from(actionsStandingTriggers).where(own)
  const keys = new Set(wanted.map(keyOf))
  const gone = rows.filter((row) => !keys.has(keyOf(row))).map(({ id }) => id)
  if (gone.length > 0) await tx.delete(actionsStandingTriggers).where(anyOf(actionsStandingTriggers.id, gone))
  const old = new Set(rows.map(keyOf))
  const added = wanted.filter((one) => !old.has(keyOf(one)))
  if (added.length === 0) return
  await tx.execute(sql`
    insert into ${actionsStandingTriggers} (repository_id, actor_id, event, cron, timezone, next_at)
    select ${repositoryId}::bigint, ${actorId}::bigint, event, cron, timezone, "nextAt"
    from json_to_recordset(${JSON.stringify(added)}::text::json)
      as added (event text, cron text, timezone text, "nextAt" timestamptz)
    on conflict do nothing`)
}

export const keyOf = ({ event, cron, timezone }: Omit<StandingTrigger, 'nextAt'>): string =>
  JSON.stringify([event, cron, timezone])

/** A schedule that is due, and where. */
export interface DueSchedule {
  id: number
  cron: string
  timezone: string
  nextAt: Date | null
}

/** The longest due first. */
export const listDue = (db: Db, now: Date, limit: number): Promise<DueSchedule[]> =>
  db
    .select({
      id: actionsStandingTriggers.id,
      cron: actionsStandingTriggers.cron,
      timezone: actionsStandingTriggers.timezone,
      nextAt: actionsStandingTriggers.nextAt,
    })
    .from(actionsStandingTriggers)
    .where(lte(actionsStandingTriggers.nextAt, now))
    .orderBy(asc(actionsStandingTriggers.nextAt))
    .limit(limit)

/** A tick that this replica has taken. */
export interface TakenTick {
  cron: string
  timezone: string
  actorId: number | null
  repositoryId: number
  ownerId: number
  isActive: boolean
}

/** Moves schedules to when they are due again. Those that another replica has moved are not among the answer: each tick is taken once. */
export async function takeTicks(
  tx: Db,
  ticks: readonly { id: number; dueAt: string; nextAt: string | null }[],
): Promise<TakenTick[]> {
  const rows = await tx.execute<Record<keyof TakenTick, unknown>>(sql`
    update ${actionsStandingTriggers} as standing set next_at = tick."nextAt"
    from json_to_recordset(${JSON.stringify(ticks)}::text::json)
      as tick (id bigint, "dueAt" timestamptz, "nextAt" timestamptz), ${repositories} as place
    where standing.id = tick.id and standing.next_at = tick."dueAt" and place.id = standing.repository_id
    returning standing.cron, standing.timezone, standing.actor_id as "actorId", standing.repository_id as "repositoryId",
      place.owner_id as "ownerId", place.has_actions and not place.is_archived as "isActive"`)
  return rows.map(({ cron, timezone, actorId, repositoryId, ownerId, isActive }) => ({
    cron: String(cron),
    timezone: String(timezone),
    actorId: actorId === null ? null : Number(actorId),
    repositoryId: Number(repositoryId),
    ownerId: Number(ownerId),
    isActive: isActive === true,
  }))
}
