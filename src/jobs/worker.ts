import { EventEmitter } from 'node:events'
import { type Runner, run, type WorkerEvents } from 'graphile-worker'
import type pg from 'pg'
import type { Log } from '../log.ts'
import { Attempts } from './attempts.ts'
import { beat, freeDeadWorkers, freeLostClaims, handBack, type Liveness, registerWorker } from './liveness.ts'
import { libraryLogger } from './logger.ts'
import { tasksOf, type Work } from './tasks.ts'

export interface WorkerOptions extends Work {
  pool: pg.Pool
  concurrency: number
  liveness: Liveness
}

export interface Worker {
  /** Settles when the worker has ended, by `stop` or by a fault; never rejects. */
  ended: Promise<void>
  stop(deadlineMs: number): Promise<void>
}

export const librarySettings = {
  schema: 'graphile_worker',
  noHandleSignals: true,
  parsedCronItems: [],
  // Without batches the library does not wait for the statement that finishes a job: if that fails, the process would
  // see an unhandled rejection and the job would stay locked. With them the worker ends, and is replaced. Also, 1,260
  // trivial jobs/s in place of 570 with concurrency 8.
  preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
}

/** How long handlers get to heed their signal when the worker ends by a fault. */
const BREAK_MS = 5000

/** One life of a worker. It gives up when the database fails it at a bad moment: then a new one takes its place. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { pool, liveness, log } = options
  const attempts = new Attempts()
  const { runner, id } = await startRunner(options, attempts)
  const halt = async (reason: string, deadlineMs: number) => {
    const clear = endAttempts(attempts, reason, deadlineMs)
    await runner.stop().catch((err: unknown) => log.debug({ err }, 'the job worker had stopped already'))
    clear()
  }
  const stopBeating = keepAlive({
    pool,
    id,
    liveness,
    log,
    attempts,
    lost: () => void halt('taken for dead', BREAK_MS),
  })
  const ended = runner.promise
    .catch((err: unknown) => log.warn({ err }, 'the job worker broke off'))
    .then(() => handBack(pool, id, [...attempts.handedBack]))
    .catch((err: unknown) => log.warn({ err }, 'jobs could not be handed back; they are freed as of a dead worker'))
    .finally(stopBeating)
  return {
    ended,
    async stop(deadlineMs) {
      await halt('the process is stopping', deadlineMs)
      await ended
    },
  }
}

async function startRunner(options: WorkerOptions, attempts: Attempts): Promise<{ runner: Runner; id: string }> {
  const { pool, concurrency, log } = options
  const events: WorkerEvents = new EventEmitter()
  let id = ''
  events.once('pool:create', ({ workerPool }) => {
    id = workerPool.id
  })
  // Also when the library gives up by itself: it would wait for running jobs, which may take hours.
  events.once('pool:gracefulShutdown', () => endAttempts(attempts, 'the job worker broke off', BREAK_MS))
  const taskList = tasksOf(options, attempts)
  const logger = libraryLogger(log)
  const runner = await run({ ...librarySettings, pgPool: pool, taskList, events, concurrency, logger })
  try {
    await registerWorker(pool, id)
  } catch (error) {
    await runner.stop()
    throw error
  }
  return { runner, id }
}

/** Asks the running attempts to end and waits no longer for them than `deadlineMs`. Returns what cancels the latter. */
function endAttempts(attempts: Attempts, reason: string, deadlineMs: number): () => void {
  if (attempts.isStopped) return () => undefined
  attempts.stop(new Error(reason))
  const timer = setTimeout(() => attempts.cut(new Error(reason)), deadlineMs)
  timer.unref()
  return () => clearTimeout(timer)
}

interface Pulse {
  pool: pg.Pool
  id: string
  liveness: Liveness
  log: Log
  attempts: Attempts
  lost(): void
}

/** Shows that this worker lives and frees the jobs of those that do not. Returns what ends it. */
function keepAlive({ pool, id, liveness, log, attempts, lost }: Pulse): () => void {
  let isBusy = false
  // After an outage of the database all others look dead too: they get one beat's time to show that they are not.
  let isSteady = false
  const tick = async () => {
    if (isBusy) return
    isBusy = true
    try {
      if (!(await beat(pool, id))) {
        clearInterval(timer)
        return lost()
      }
      const freed = isSteady ? await freeDeadWorkers(pool, liveness.deadSeconds) : 0
      if (freed > 0) log.warn({ jobs: freed }, 'jobs of a dead process are freed')
      const claims = { worker: id, running: attempts.running, seconds: liveness.deadSeconds }
      const lostClaims = await freeLostClaims(pool, claims)
      if (lostClaims > 0) log.warn({ jobs: lostClaims }, 'jobs whose claim was lost with a connection are freed')
      isSteady = true
    } catch (err) {
      isSteady = false
      log.warn({ err }, 'the job worker cannot reach the database')
    } finally {
      isBusy = false
    }
  }
  const timer = setInterval(() => void tick(), liveness.beatSeconds * 1000)
  return () => clearInterval(timer)
}
