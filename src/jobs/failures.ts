import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'

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

/**
 * Always enqueued with a key. The queue takes key and attempts from one that runs while the next is enqueued: should its process die,
 * the next one does its work.
 */
const KEYED = sql`('cron.run', 'repository.refresh')`

/** Jobs whose last attempt failed, the newest failure first: those that wait for another one, and those retired. */
export async function listFailedJobs(db: Db, { limit = 50, offset = 0 } = {}): Promise<FailedJob[]> {
  const rows = await db.execute<{
    id: number
    name: string
    queue: string | null
    attempts: number
    max_attempts: number
    last_error: string
    run_at: string
    created_at: string
    updated_at: string
  }>(sql`
    select id, task_identifier as name, queue_name as queue, attempts, max_attempts,
      coalesce(last_error, '') as last_error, run_at, created_at, updated_at
    from graphile_worker.jobs
    where locked_at is null and (last_error is not null or attempts >= max_attempts)
      and not (attempts >= max_attempts and key is null and task_identifier in ${KEYED})
    order by updated_at desc, id desc
    limit ${limit} offset ${offset}`)
  return rows.map((row) => ({
    id: Number(row.id),
    name: row.name,
    queue: row.queue,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    lastError: row.last_error,
    nextAttemptAt: row.attempts < row.max_attempts ? new Date(row.run_at) : null,
    createdAt: new Date(row.created_at),
    failedAt: new Date(row.updated_at),
  }))
}

/** Tries a failed job again at once, with all its attempts; false when there is no such job or it runs just now. */
export async function retryFailedJob(db: Db, id: number): Promise<boolean> {
  const rows = await db.execute(sql`
    update graphile_worker._private_jobs
    set attempts = 0, run_at = now(), updated_at = now()
    where id = ${id} and locked_at is null and (last_error is not null or attempts >= max_attempts)
    returning pg_notify('jobs:insert', '{"count":1}')`)
  return rows.length > 0
}

/** Forgets jobs that were retired before `before`, and returns how many. */
export async function removeRetiredJobs(db: Db, before: Date): Promise<number> {
  const rows = await db.execute(sql`
    delete from graphile_worker._private_jobs
    where locked_at is null and attempts >= max_attempts and updated_at < ${before.toISOString()}::text::timestamptz
    returning 1`)
  return rows.length
}

/** Forgets the names of queues that hold no job; one row would else stay for every name ever used. */
export async function removeEmptyQueues(db: Db): Promise<void> {
  await db.transaction(async (tx) => {
    // Only with the table to itself: an enqueue that has just seen the name would find it gone and lose its order.
    await tx.execute(sql`set local lock_timeout = '1s'`)
    await tx.execute(sql`lock table graphile_worker._private_job_queues in access exclusive mode`)
    await tx.execute(sql`
      delete from graphile_worker._private_job_queues queues
      where locked_at is null
        and not exists (select 1 from graphile_worker._private_jobs where job_queue_id = queues.id)`)
  })
}
