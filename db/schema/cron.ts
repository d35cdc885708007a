import { bigint, boolean, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { createdAt, instant } from './columns.ts'

/** What is known of each periodic task, on all replicas and across restarts. */
export const cronTasks = pgTable('cron_tasks', {
  name: text().primaryKey(),
  /** As administrators read it, such as `@every 10m`. */
  schedule: text().notNull(),
  description: text().notNull(),
  /** False when the version that started last has no such task. */
  isActive: boolean().notNull().default(true),
  /** Started runs, by the schedule or by hand. */
  execTimes: bigint({ mode: 'number' }).notNull().default(0),
  lastStartedAt: instant(),
  lastFinishedAt: instant(),
  /** Of the last run; null when it succeeded or has not ended. */
  lastError: text(),
  lastFailedAt: instant(),
  createdAt: createdAt(),
})
export type CronTaskRow = typeof cronTasks.$inferSelect

/** One row per tick: the replica whose insert succeeds is the one that enqueues the run. */
export const cronTicks = pgTable(
  'cron_ticks',
  {
    task: text().notNull(),
    dueAt: instant().notNull(),
    claimedAt: instant().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.task, table.dueAt] }), index('cron_ticks_claimed_idx').on(table.claimedAt)],
)
