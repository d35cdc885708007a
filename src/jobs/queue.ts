import type { Channels } from '../../db/channels.ts'
import { openDatabase, type Sql } from '../../db/client.ts'
import type { Log } from '../log.ts'
import { jobCatalogue } from './catalogue.ts'
import { JOBS_CHANNEL } from './channel.ts'
import { enqueueJob } from './enqueue.ts'
import type { HandlerOf } from './handlers.ts'
import type { Jobs } from './jobs.ts'
import { defaultLiveness, type Liveness, Worker } from './worker.ts'

export interface JobsOptions {
  /** Where the queue is. */
  url: string
  channels: Channels
  handlerOf: HandlerOf
  log: Log
  /** Jobs that run at the same time in this process. */
  concurrency?: number
  liveness?: Liveness
  /** Enqueues what waits elsewhere to become jobs, such as events. For `drain`, which ends when there is neither. */
  feed?: () => Promise<void>
}

const DEFAULT_CONCURRENCY = 8
/** Jobs that wait for others' servers need little of this machine. */
const OUTBOUND_CONCURRENCY = 48
const DEFAULT_STOP_MS = 10_000
const DRAIN_LIMIT_MS = 60_000
/** From one look to the next: another process may run a job that `drain` waits for. */
const DRAIN_PAUSE_MS = 20
/** Shorter than a lease: a statement that hangs must not cost the worker its jobs. */
const STATEMENT_SECONDS = 8
const CONNECTIONS = 2

/** The queue over PostgreSQL. It connects at the first use. */
export function createJobs(options: JobsOptions): Jobs {
  const { url, channels, concurrency = DEFAULT_CONCURRENCY, liveness = defaultLiveness } = options
  const database = openDatabase(url, {
    poolSize: CONNECTIONS,
    timeoutSeconds: STATEMENT_SECONDS,
    applicationName: 'hearth jobs',
  })
  const workerFor = (isOutbound: boolean, places: number) => {
    const names = Object.entries(jobCatalogue).filter(([, job]) => job.isOutbound === isOutbound)
    const common = { ...options, sql: database.sql, liveness }
    return new Worker({ ...common, names: names.map(([name]) => name), concurrency: places })
  }
  const workers = [workerFor(false, concurrency), workerFor(true, OUTBOUND_CONCURRENCY)]
  let unlisten: (() => void) | undefined
  return {
    enqueue: enqueueJob,
    drain: () => drain(workers, database.sql, options.feed),
    start() {
      unlisten = channels.listen(JOBS_CHANNEL, () => {
        for (const worker of workers) worker.wake()
      })
      for (const worker of workers) worker.start()
    },
    async stop(deadlineMs = DEFAULT_STOP_MS) {
      unlisten?.()
      await Promise.all(workers.map((worker) => worker.stop(deadlineMs)))
      await database.close(0)
    },
  }
}

async function drain(workers: readonly Worker[], sql: Sql, feed: JobsOptions['feed']): Promise<void> {
  const deadline = performance.now() + DRAIN_LIMIT_MS
  for (;;) {
    await feed?.()
    for (const worker of workers) worker.wake()
    for (const worker of workers) await worker.idle()
    await feed?.()
    if (!(await isBusy(sql))) return
    if (performance.now() > deadline) throw new Error('jobs still run after a minute of draining')
    await Bun.sleep(DRAIN_PAUSE_MS)
  }
}

/** Whether a job is due or runs. Jobs that wait for their next attempt, or for ever, do not count. */
async function isBusy(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select 1 from jobs where lease is not null or (retired_at is null and run_at <= now()) limit 1`
  return rows.length > 0
}
