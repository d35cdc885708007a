import { and, desc, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { jobs } from '../../db/schema/jobs.ts'
import { JOBS_CHANNEL } from './channel.ts'

const isFailed = and(isNull(jobs.lease), isNotNull(jobs.lastError))

export interface FailedJob {
  id: number
  name: string
  queue: string | null
  attempts: number
  maxAttempts: number
  /** What the last attempt threw. */
  lastError: string
  /** When it is tried again; null when it was retired: no attempt is left. */
  nextAttemptAt: Date | null
  createdAt: Date
  failedAt: Date
}

/** Jobs whose last attempt failed, the newest failure first: those that wait for another one, and those retired. */
export async function listFailedJobs(db: Db, { limit = 50, offset = 0 } = {}): Promise<FailedJob[]> {
  const rows = await db
    .select()
    .from(jobs)
    .where(isFailed)
    .orderBy(desc(jobs.failedAt), desc(jobs.id))
    .limit(limit)
    .offset(offset)
  return rows.map(({ id, name, queue, attempts, maxAttempts, lastError, runAt, retiredAt, createdAt, failedAt }) => ({
    ...{ id, name, queue, attempts, maxAttempts, createdAt },
    lastError: lastError ?? '',
    nextAttemptAt: retiredAt === null ? runAt : null,
    failedAt: failedAt ?? createdAt,
  }))
}

/** Tries a failed job again at once, with all its attempts; false when there is no such job or it runs just now. */
export async function retryFailedJob(db: Db, id: number): Promise<boolean> {
  const rows = await db
    .update(jobs)
    .set({ attempts: 0, retiredAt: null, runAt: sql`now()` })
    .where(and(eq(jobs.id, id), isFailed))
    .returning({ notified: sql`pg_notify(${JOBS_CHANNEL}::text, '')` })
  return rows.length > 0
}

/** Forgets jobs that were retired before `before`, and returns how many. */
export async function removeRetiredJobs(db: Db, before: Date): Promise<number> {
  const gone = await db.delete(jobs).where(lt(jobs.retiredAt, before))
  return gone.count
}
