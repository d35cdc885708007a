import { EventEmitter } from 'node:events'
import { run, type WorkerEvents } from 'graphile-worker'
import type { Sql } from '../../db/client.ts'
import type { Log } from '../log.ts'
import { Attempts } from './attempts.ts'
import { beat, freeDeadWorkers, freeLostClaims, handBack, type Liveness, registerWorker } from './liveness.ts'
import { libraryLogger } from './logger.ts'
import { JobsPool } from './pool.ts'
import { tasksOf, type Work } from './tasks.ts'
import { within } from './within.ts'

export interface WorkerOptions extends Work {
  /** Where the queue is. */
  sql: Sql
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

/**
 * One life of a worker, with connections of its own. It gives up when the database fails it at a bad moment: then a new one takes its
 * place. After lost connections the library may wait for minutes, or for ever: it is left behind then.
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { sql, liveness, log } = options
  const attempts = new Attempts()
  const endMs = liveness.endSeconds * 1000
  const ending = new Ending(attempts, endMs)
  const pool = new JobsPool(sql)
  const { runner, id } = await startRunner(options, { pool, attempts, ending }).catch(async (error: unknown) => {
    await pool.close()
    throw error
  })
  const halt = (reason: string, deadlineMs: number) => {
    ending.begin(reason, deadlineMs)
    runner.stop().catch((err: unknown) => log.debug({ err }, 'the job worker had stopped already'))
  }
  const lost = () => halt('taken for dead', endMs)
  const stopBeating = keepAlive({ pool, id, liveness, log, attempts, lost })
  const life = runner.promise.catch((err: unknown) => log.warn({ err }, 'the job worker broke off'))
  const left = ending.overdue.then(() => log.warn('the job worker did not end in time, and is left behind'))
  const ended = Promise.race([life, left]).then(async () => {
    ending.end()
    stopBeating()
    await pool.close()
    await within(endMs, handBackAll(options, id, attempts))
  })
  return {
    ended,
    async stop(deadlineMs) {
      halt('the process is stopping', deadlineMs)
      await ended
    },
  }
}

interface Parts {
  pool: JobsPool
  attempts: Attempts
  ending: Ending
}

async function startRunner(options: WorkerOptions, { pool, attempts, ending }: Parts) {
  const { concurrency, log } = options
  const events: WorkerEvents = new EventEmitter()
  let id = ''
  events.once('pool:create', ({ workerPool }) => {
    id = workerPool.id
  })
  // Also when the library gives up by itself: it would wait for running jobs, which may take hours.
  events.once('pool:gracefulShutdown', () =>
    ending.begin('the job worker broke off', options.liveness.endSeconds * 1000),
  )
  const taskList = tasksOf(options, attempts)
  const logger = libraryLogger(log)
  const runner = await run({ ...librarySettings, pgPool: pool, taskList, events, concurrency, logger })
  try {
    await registerWorker(pool, id)
  } catch (error) {
    void Promise.allSettled([runner.promise, runner.stop()])
    throw error
  }
  return { runner, id }
}

/** Over a connection that nobody has left half used. */
async function handBackAll({ sql, log }: WorkerOptions, id: string, attempts: Attempts): Promise<void> {
  const pool = new JobsPool(sql)
  await handBack(pool, id, [...attempts.handedBack])
    .catch((err: unknown) => log.warn({ err }, 'jobs could not be handed back; they are freed as of a dead worker'))
    .finally(() => pool.close())
}

/** The last part of a worker's life: what runs is asked to end, then cut, and at last the library is not waited for any longer. */
class Ending {
  readonly #attempts: Attempts
  /** More than the library takes once no handler runs, unless it waits for a connection that is gone. */
  readonly #leaveMs: number
  readonly #overdue = Promise.withResolvers<void>()
  #timers: Timer[] = []

  constructor(attempts: Attempts, leaveMs: number) {
    this.#attempts = attempts
    this.#leaveMs = leaveMs
  }

  /** Settles when the library should have ended. */
  get overdue(): Promise<void> {
    return this.#overdue.promise
  }

  /** Asks the running attempts to end and waits no longer for them than `deadlineMs`. The first reason counts. */
  begin(reason: string, deadlineMs: number): void {
    if (this.#attempts.isStopped) return
    this.#attempts.stop(new Error(reason))
    this.#timers = [
      setTimeout(() => this.#attempts.cut(new Error(reason)), deadlineMs),
      setTimeout(() => this.#overdue.resolve(), deadlineMs + this.#leaveMs),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }
}

interface Pulse {
  pool: JobsPool
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
