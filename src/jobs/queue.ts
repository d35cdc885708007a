import { runOnce } from 'graphile-worker'
import type { Sql } from '../../db/client.ts'
import { Attempts } from './attempts.ts'
import { enqueueJob } from './enqueue.ts'
import type { Jobs } from './jobs.ts'
import { defaultLiveness, type Liveness } from './liveness.ts'
import { libraryLogger } from './logger.ts'
import { JobsPool } from './pool.ts'
import { tasksOf, type Work } from './tasks.ts'
import { librarySettings, startWorker, type Worker, type WorkerOptions } from './worker.ts'

export interface JobsOptions extends Work {
  /** Where the queue is. At most three more connections are opened to it, and kept only while they are used. */
  sql: Sql
  /** Jobs that run at the same time in this process. */
  concurrency?: number
  liveness?: Liveness
  /** Enqueues what waits elsewhere to become jobs, such as events. For `drain`, which ends when there is neither. */
  feed?: () => Promise<void>
}

const DEFAULT_CONCURRENCY = 8
const DEFAULT_STOP_MS = 10_000
const RESTART_MS = 1000
const DRAIN_LIMIT_MS = 60_000

/** The queue over PostgreSQL. It connects at the first use. */
export function createJobs(options: JobsOptions): Jobs {
  const { sql, concurrency = DEFAULT_CONCURRENCY, liveness = defaultLiveness } = options
  const pool = new JobsPool(sql)
  const supervisor = supervise({ ...options, concurrency, liveness })
  return {
    enqueue: enqueueJob,
    drain: () => drain(pool, options, concurrency),
    start: supervisor.start,
    async stop(deadlineMs = DEFAULT_STOP_MS) {
      await supervisor.stop(deadlineMs)
      await pool.close()
    },
  }
}

/** Keeps one worker alive: a worker that ended by a fault is replaced. */
function supervise(options: WorkerOptions): { start(): Promise<void>; stop(deadlineMs: number): Promise<void> } {
  let worker: Worker | undefined
  let timer: Timer | undefined
  let isStopping = false
  const replaceLater = () => {
    worker = undefined
    if (!isStopping) timer = setTimeout(() => start().catch(replaceAfterFault), RESTART_MS)
  }
  const replaceAfterFault = (err: unknown) => {
    options.log.warn({ err }, 'the job worker cannot start')
    replaceLater()
  }
  const start = async () => {
    const started = await startWorker(options)
    worker = started
    void started.ended.then(replaceLater)
    // Asked to stop while it was starting.
    if (isStopping) await started.stop(0)
  }
  return {
    start,
    async stop(deadlineMs) {
      isStopping = true
      clearTimeout(timer)
      await worker?.stop(deadlineMs)
    },
  }
}

async function drain(pool: JobsPool, work: JobsOptions, concurrency: number): Promise<void> {
  const taskList = tasksOf(work, new Attempts())
  const logger = libraryLogger(work.log)
  const deadline = performance.now() + DRAIN_LIMIT_MS
  do {
    await work.feed?.()
    await runOnce({ ...librarySettings, pgPool: pool, taskList, concurrency, logger })
    if (performance.now() > deadline) throw new Error('jobs still run after a minute of draining')
    await work.feed?.()
  } while (await isBusy(pool))
}

/** Whether a job is due or runs. Jobs that wait for their next attempt, or for ever, do not count. */
async function isBusy(pool: JobsPool): Promise<boolean> {
  const { rows } = await pool.query<{ busy: boolean }>(
    `select exists (
       select 1 from graphile_worker._private_jobs
       where locked_at is not null or (is_available and run_at <= now())
     ) as busy`,
  )
  return rows[0]?.busy === true
}
