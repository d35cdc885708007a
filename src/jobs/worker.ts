import type { Sql } from '../../db/client.ts'
import { type Coalesced, coalesce } from '../kernel/coalesce.ts'
import { messageOf } from '../kernel/thrown.ts'
import { within } from '../kernel/within.ts'
import type { Log } from '../log.ts'
import { Attempt } from './attempt.ts'
import { isJobName } from './catalogue.ts'
import type { HandlerOf } from './handlers.ts'
import { type ClaimedJob, claimJobs, listEnded, type Release, releaseJob, removeDone, renewLeases } from './leases.ts'

/** How fast a killed worker is noticed: its leases end, and within one more beat somebody frees its jobs. */
export interface Liveness {
  beatSeconds: number
  leaseSeconds: number
}

export const defaultLiveness: Liveness = { beatSeconds: 2, leaseSeconds: 20 }

export interface WorkerOptions {
  /** The worker's own connections: requests that wait for the application's pool must not cost it its leases. */
  sql: Sql
  /** See `handlerOf` for a table of handlers and a context. */
  handlerOf: HandlerOf
  log: Log
  concurrency: number
  /** Names of the jobs that it claims. */
  names: readonly string[]
  liveness: Liveness
}

interface Running {
  attempt: Attempt
  /** In the time of `performance.now()`. Counted from before the statement, so that it ends here before it does in the database. */
  leaseEndsAt: number
}

/** How an attempt ended that did its job, or did not. */
interface Outcome {
  job: ClaimedJob
  release: Release | undefined
}

/** Freed in one beat. */
const MAX_ENDED = 100
const RETRY_MS = 500
/** For the last statements of a worker that stops while its database does not answer. */
const FAREWELL_MS = 2000

/**
 * Claims jobs, runs them and writes how they ended. It holds a place for each job until the database has taken the result, so that
 * claims and results come in batches of up to `concurrency`.
 */
export class Worker {
  readonly #options: WorkerOptions
  readonly #running = new Map<number, Running>()
  readonly #claims: Coalesced
  readonly #results: Coalesced
  readonly #beats: Coalesced
  #outcomes: Outcome[] = []
  #after = ''
  #timer: Timer | undefined
  #stopReason: Error | undefined

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#claims = coalesce(() => this.#claim())
    this.#results = coalesce(() => this.#writeResults())
    this.#beats = coalesce(() => this.#beat())
  }

  /** Looks for jobs at each wake, and at each beat, since a wake may get lost. */
  start(): void {
    this.#timer = setInterval(() => this.#tick(), this.#options.liveness.beatSeconds * 1000)
    this.wake()
  }

  /** There may be a job that is due. */
  wake(): void {
    this.#claims.wake()
  }

  /** Waits until it runs nothing and finds nothing more. */
  async idle(): Promise<void> {
    for (;;) {
      const busy = [this.#claims.current, this.#results.current, ...this.#endings()].filter((one) => one !== undefined)
      if (busy.length === 0) return
      await Promise.allSettled(busy)
    }
  }

  /** Claims nothing more, lets what runs end within the time, and hands the rest back. */
  async stop(deadlineMs: number): Promise<void> {
    const reason = new Error('the process is stopping')
    this.#stopReason = reason
    clearInterval(this.#timer)
    await within(FAREWELL_MS, Promise.all([this.#claims.stop(), this.#beats.stop()]))
    for (const { attempt } of this.#running.values()) attempt.abort(reason)
    await within(deadlineMs, Promise.allSettled(this.#endings()))
    for (const { attempt } of this.#running.values()) attempt.cut(reason)
    await within(FAREWELL_MS, this.idle())
    // What could not be written is freed when its lease ends.
    this.#running.clear()
  }

  #endings(): Promise<void>[] {
    return Array.from(this.#running.values(), ({ attempt }) => attempt.ended)
  }

  async #claim(): Promise<void> {
    const { sql, concurrency, liveness, log, names } = this.#options
    const count = concurrency - this.#running.size
    if (count <= 0 || this.#stopReason !== undefined) return
    const leaseEndsAt = performance.now() + liveness.leaseSeconds * 1000
    try {
      const { claimed, after } = await claimJobs(sql, { ...liveness, count, names, after: this.#after })
      const isEnd = claimed.length === 0 && this.#after === ''
      this.#after = after
      for (const job of claimed) this.#begin(job, leaseEndsAt)
      if (!isEnd) this.wake()
    } catch (err) {
      log.warn({ err }, 'the job worker cannot reach the database')
    }
  }

  #begin(job: ClaimedJob, leaseEndsAt: number): void {
    // The claim asks for names of the catalogue alone.
    if (!isJobName(job.name)) return
    // Its lease ended between two beats, and the job came back to this worker.
    const former = this.#running.get(job.id)
    if (former) this.#lose(former)
    const attempt = new Attempt(job, job.name, this.#options.handlerOf)
    this.#running.set(job.id, { attempt, leaseEndsAt })
    attempt.ended.then(
      () => this.#end(attempt, undefined),
      (error: unknown) => this.#end(attempt, error),
    )
    // The process began to stop while the claim was on its way.
    if (this.#stopReason !== undefined) attempt.cut(this.#stopReason)
  }

  #end({ job }: Attempt, error: unknown): void {
    const { log } = this.#options
    if (!this.#holds(job)) return
    if (error === undefined) {
      this.#settle({ job, release: undefined })
      return
    }
    const fields = { job: job.name, id: job.id, attempt: job.attempt, of: job.maxAttempts, err: error }
    if (this.#stopReason !== undefined) {
      log.info(fields, 'job handed back')
      this.#settle({ job, release: { as: 'returned' } })
      return
    }
    if (job.attempt >= job.maxAttempts) log.error(fields, 'job failed for the last time')
    else log.warn(fields, 'job failed, to be tried again')
    this.#settle({ job, release: { as: 'failed', error: messageOf(error) } })
  }

  #settle(outcome: Outcome): void {
    this.#outcomes.push(outcome)
    this.#results.wake()
  }

  /** False when the lease was lost meanwhile. */
  #holds({ id, lease }: ClaimedJob): boolean {
    return this.#running.get(id)?.attempt.job.lease === lease
  }

  async #writeResults(): Promise<void> {
    const { sql, log } = this.#options
    const outcomes = this.#outcomes.filter(({ job }) => this.#holds(job))
    this.#outcomes = []
    try {
      const done = outcomes.filter(({ release }) => release === undefined).map(({ job }) => job)
      if (done.length > 0) await removeDone(sql, done)
      for (const job of done) this.#forget(job)
      // One by one: a statement that waits for the key of a job must hold no other.
      for (const { job, release } of outcomes) {
        if (release === undefined) continue
        await releaseJob(sql, job, release)
        this.#forget(job)
      }
    } catch (err) {
      log.warn({ err }, 'results of jobs could not be written, and are tried again')
      this.#outcomes.push(...outcomes)
      await Bun.sleep(RETRY_MS)
      this.#results.wake()
    }
    this.wake()
  }

  #forget(job: ClaimedJob): void {
    if (this.#holds(job)) this.#running.delete(job.id)
  }

  #tick(): void {
    // Also while the database does not answer: nobody works on without a lease.
    const now = performance.now()
    for (const running of this.#running.values()) if (running.leaseEndsAt <= now) this.#lose(running)
    this.#beats.wake()
    this.wake()
  }

  #lose({ attempt }: Running): void {
    const { id, name } = attempt.job
    this.#running.delete(id)
    this.#options.log.warn({ job: name, id }, 'the lease of a job has ended, and its attempt with it')
    attempt.cut(new Error('the lease of this attempt has ended'))
  }

  /** Keeps the leases of this worker, and frees the jobs of those that died. */
  async #beat(): Promise<void> {
    const { sql, liveness, log } = this.#options
    try {
      const running = [...this.#running.values()]
      const leaseEndsAt = performance.now() + liveness.leaseSeconds * 1000
      const leases = running.map(({ attempt }) => attempt.job)
      const lost = leases.length > 0 ? await renewLeases(sql, leases, liveness.leaseSeconds) : new Set<number>()
      for (const one of running) {
        // What has ended meanwhile holds nothing that could be lost.
        if (this.#running.get(one.attempt.job.id) !== one) continue
        if (lost.has(one.attempt.job.id)) this.#lose(one)
        else one.leaseEndsAt = leaseEndsAt
      }
      for (const ended of await listEnded(sql, MAX_ENDED)) {
        const isFreed = await releaseJob(sql, ended, { as: 'ended', error: 'the process that ran this job died' })
        if (isFreed) log.warn({ id: ended.id }, 'a job of a dead process is freed')
      }
    } catch (err) {
      log.warn({ err }, 'the job worker cannot reach the database')
    }
  }
}
