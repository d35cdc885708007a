import { and, eq, gt, sql } from 'drizzle-orm'
import { comments, issues } from '../../../db/schema/issues.ts'
import { users } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import type { NodeInfoUsage } from './schema.ts'

/** Anybody may ask as often as they like, but counting reads whole tables. */
const KEPT_SECONDS = 600
const DAY_MS = 24 * 60 * 60 * 1000

/** Makes a reader of the counts that asks the database at most once in ten minutes, however many ask at the same time. */
export function createUsage({ db, clock }: Pick<Context, 'db' | 'clock'>): () => Promise<NodeInfoUsage> {
  let kept: { until: number; usage: Promise<NodeInfoUsage> } | undefined
  return async () => {
    const now = clock.now().getTime()
    if (kept === undefined || kept.until <= now) {
      const counted = { until: now + KEPT_SECONDS * 1000, usage: countUsage(db, now) }
      kept = counted
      // A failure is told to those who wait for it and not kept for the next.
      counted.usage.catch(() => {
        if (kept === counted) kept = undefined
      })
    }
    return await kept.usage
  }
}

async function countUsage(db: Context['db'], now: number): Promise<NodeInfoUsage> {
  const since = (days: number) => new Date(now - days * DAY_MS)
  const active = (days: number) => sql<number>`count(*) filter (where ${gt(users.lastLoginAt, since(days))})::int`
  const [[people], localPosts, localComments] = await Promise.all([
    db
      .select({ total: sql<number>`count(*)::int`, halfyear: active(180), month: active(30) })
      .from(users)
      .where(and(eq(users.kind, 'user'), eq(users.isActive, true))),
    db.$count(issues),
    db.$count(comments, eq(comments.kind, 'comment')),
  ])
  const { total = 0, halfyear = 0, month = 0 } = people ?? {}
  return { users: { total, activeHalfyear: halfyear, activeMonth: month }, localPosts, localComments }
}
