import { and, eq, gt, isNotNull, type SQL, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import { accessTokens, publicKeys, signInAddresses } from '../../../db/schema/credentials.ts'
import { comments, issues } from '../../../db/schema/issues.ts'
import { users } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import type { NodeInfoUsage } from './schema.ts'

/** Anybody may ask as often as they like, but counting reads whole tables. */
const CACHE_SECONDS = 600
const DAY_MS = 24 * 60 * 60 * 1000

/** Makes a reader of the counts that asks the database at most once in ten minutes, however many ask at the same time. */
export function createUsage({ db, clock }: Pick<Context, 'db' | 'clock'>): () => Promise<NodeInfoUsage> {
  let cached: { until: number; usage: Promise<NodeInfoUsage> } | undefined
  return async () => {
    const now = clock.now().getTime()
    if (cached === undefined || cached.until <= now) {
      const counted = { until: now + CACHE_SECONDS * 1000, usage: countUsage(db, now) }
      cached = counted
      // Those who wait see a failure; the next caller asks anew.
      counted.usage.catch(() => {
        if (cached === counted) cached = undefined
      })
    }
    return await cached.usage
  }
}

async function countUsage(db: Context['db'], now: number): Promise<NodeInfoUsage> {
  const isCounted = and(eq(users.kind, 'user'), eq(users.isActive, true))
  const [total, active, localPosts, localComments] = await Promise.all([
    db.$count(users, isCounted),
    countActive(db, now, isCounted),
    db.$count(issues),
    db.$count(comments, eq(comments.kind, 'comment')),
  ])
  return { users: { total, ...active }, localPosts, localComments }
}

/** Active is who signed in, in whatever form: there are people who never come but with a token or a key. */
async function countActive(db: Context['db'], now: number, isCounted: SQL | undefined) {
  const [halfyear, month] = [new Date(now - 180 * DAY_MS), new Date(now - 30 * DAY_MS)]
  const seen = unionAll(
    db.select({ userId: users.id, at: users.lastLoginAt }).from(users).where(gt(users.lastLoginAt, halfyear)),
    db
      .select({ userId: signInAddresses.userId, at: signInAddresses.lastSeenAt })
      .from(signInAddresses)
      .where(gt(signInAddresses.lastSeenAt, halfyear)),
    db
      .select({ userId: accessTokens.userId, at: accessTokens.lastUsedAt })
      .from(accessTokens)
      .where(gt(accessTokens.lastUsedAt, halfyear)),
    db
      .select({ userId: sql<number>`${publicKeys.userId}`, at: publicKeys.lastUsedAt })
      .from(publicKeys)
      .where(and(isNotNull(publicKeys.userId), gt(publicKeys.lastUsedAt, halfyear))),
  ).as('seen')
  const people = sql<number>`count(distinct ${seen.userId})`
  const [row] = await db
    .select({
      activeHalfyear: sql<number>`${people}::int`,
      activeMonth: sql<number>`(${people} filter (where ${gt(seen.at, month)}))::int`,
    })
    .from(seen)
    .innerJoin(users, eq(users.id, seen.userId))
    .where(isCounted)
  return row ?? { activeHalfyear: 0, activeMonth: 0 }
}
