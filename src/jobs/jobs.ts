import type { Db } from '../../db/client.ts'
import type { JobName, JobPayload } from './catalogue.ts'

export interface EnqueueOptions {
  /** Jobs of one queue run one at a time, in the order they were enqueued. Without it: in parallel. */
  queue?: string
  /** At most one job with this key waits. One that runs does not count: the new job follows it. */
  key?: string
  /** What happens to the new job when one with its key waits already. Without it: `replace`. */
  onSameKey?: 'replace' | 'ignore'
  /** Not before this time; without it at once. */
  runAt?: Date
  /** In place of the catalogue's number. */
  maxAttempts?: number
  /** Lower goes first; 0 without it. */
  priority?: number
}

export interface Jobs {
  /** Writes the job with `db`: inside a transaction it exists exactly when the transaction commits. */
  enqueue<Name extends JobName>(db: Db, name: Name, payload: JobPayload<Name>, options?: EnqueueOptions): Promise<void>
  /** For tests: runs all that is due, and what that enqueues, until nothing due is left. Failures do not throw: see `listFailedJobs`. */
  drain(): Promise<void>
  /** Begins to work. The queue survives a database that goes away and comes back. */
  start(): void
  /**
   * Takes no further job and fires the signal of those that run. Those that end with it are handed back at once, and the attempt
   * does not count. After `deadlineMs` (10,000 without it) the rest is handed back too, whatever the handlers still do.
   */
  stop(deadlineMs?: number): Promise<void>
}
