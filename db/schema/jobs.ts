import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { createdAt, instant } from './columns.ts'

/**
 * The job queue. Only src/jobs reads and writes it. A row is in one of three states:
 * - waiting: `lease` and `retired_at` are null. It runs once `run_at` has come.
 * - running: `lease` is set. Whoever knows the lease may finish the job, until `leased_until` has passed.
 * - retired: `retired_at` is set. No attempt is left; it stays for people to look at.
 *
 * A finished job is deleted.
 */
export const jobs = pgTable(
  'jobs',
  {
    /** Also the order of jobs with the same priority: a clock may be set back, a sequence is not. */
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    /** A name of the catalogue in src/jobs. */
    name: text().notNull(),
    payload: jsonb().notNull(),
    /** Jobs of one queue run one at a time and in order. Null: beside all others. */
    queue: text(),
    /** At most one job that does not run has this key. */
    key: text(),
    /** Lower goes first. */
    priority: integer().notNull().default(0),
    runAt: instant().notNull().defaultNow(),
    /** Attempts that have begun. */
    attempts: integer().notNull().default(0),
    maxAttempts: integer().notNull(),
    /** New for each attempt, so that nobody finishes an attempt that was taken away. */
    lease: uuid(),
    leasedUntil: instant(),
    /** Of the last attempt that failed. */
    lastError: text(),
    failedAt: instant(),
    retiredAt: instant(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('jobs_key_idx').on(table.key).where(sql`lease is null`),
    // One job of a queue runs at a time, whatever two workers believe that they see.
    uniqueIndex('jobs_running_queue_idx').on(table.queue).where(sql`lease is not null`),
    // Waiting jobs in their order. `run_at` stands last so that jobs of the future are passed over inside of the index.
    index('jobs_waiting_idx')
      .on(table.priority, table.id, table.runAt)
      .where(sql`lease is null and retired_at is null and queue is null`),
    index('jobs_waiting_in_queue_idx')
      .on(table.queue, table.priority, table.id, table.runAt)
      .where(sql`lease is null and retired_at is null and queue is not null`),
    index('jobs_leased_until_idx').on(table.leasedUntil).where(sql`lease is not null`),
    index('jobs_failed_idx').on(table.failedAt).where(sql`last_error is not null`),
  ],
)
