import type { Db } from '../../db/client.ts'
import type { JobName, JobPayload } from './catalogue.ts'

export interface EnqueueOptions {
  /** Jobs of one queue run one after the other, in the order they were enqueued. Without it: in parallel. */
  queue?: string
  /** A waiting job with the same key is replaced, one that already runs is followed by the new one. */
  key?: string
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
  start(): Promise<void>
  /**
   * Takes no further job, fires the signal of those that run, and hands back at once, without counting the attempt,
   * those that end with it; what still runs after `deadlineMs` (10,000 without it) is handed back from under its handler.
   */
  stop(deadlineMs?: number): Promise<void>
}
