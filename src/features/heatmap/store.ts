import { and, eq, gt, sql } from 'drizzle-orm'
import { activities } from '../../../db/schema/activity.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { visibleUnits } from '../activity/list.ts'

const QUARTER_SECONDS = 900
const DAYS = 366
const DAY_MS = 86_400_000

export interface Contributions {
  timestamp: number
  contributions: number
}

/** What a person did per quarter of an hour in the last year, where the reader may see it: the sum of what the feeds show. */
export function countContributions(
  context: Context,
  actor: Actor | undefined,
  userId: number,
): Promise<Contributions[]> {
  const { db, config, clock } = context
  const since = new Date(clock.now().getTime() - DAYS * DAY_MS)
  const quarter = sql<number>`(floor(extract(epoch from ${activities.createdAt}) / ${sql.raw(String(QUARTER_SECONDS))}) * ${sql.raw(String(QUARTER_SECONDS))})::bigint`
  return db
    .select({ timestamp: quarter.mapWith(Number), contributions: sql<number>`count(*)::int` })
    .from(activities)
    .innerJoin(repositories, eq(repositories.id, activities.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(
      and(
        eq(activities.actorId, userId),
        gt(activities.createdAt, since),
        visibleTo(config, actor),
        visibleUnits(context, actor, activities.opType),
      ),
    )
    .groupBy(quarter)
    .orderBy(quarter)
}
