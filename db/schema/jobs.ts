import { pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/**
 * The workers that are alive. The queue itself is in the schema `graphile_worker`, which frees the jobs of a killed
 * process only after four hours; a worker whose row here grew old is dead and its jobs are freed within seconds.
 */
export const jobWorkers = pgTable('job_workers', {
  /** The library's name of the worker, as in `locked_by` of its jobs. */
  id: text().primaryKey(),
  startedAt: instant().notNull().defaultNow(),
  seenAt: instant().notNull().defaultNow(),
})
