import type { Answer } from './worker.ts'

export interface ThreadJob<Task, Result> {
  task: Task
  /** From the moment that a thread takes it. */
  deadlineMs: number
  /** Cleared when a thread takes the job. */
  waitTimer: Timer
  resolve(result: Result): void
  reject(error: Error): void
}

/** The task took longer than its pool allows. */
export class ThreadTimeout extends Error {}

interface ThreadEvents {
  /** It can take a job. */
  idle(): void
  /** Its program could not be started. Comes before `terminating`. */
  notStarted(error: Error): void
  /** It takes no job any more. Its program may still run for a while. */
  terminating(): void
  /** Its program has stopped. Comes after `terminating`. */
  closed(): void
}

/** A thread that cannot start at all would otherwise hold its place for ever. */
const MAX_START_MS = 20_000

/** One thread of a pool: first it starts, then it does one job at a time. */
export class PooledThread<Task, Result> {
  isIdle = false
  private isStarted = false
  private isTerminating = false
  private job: ThreadJob<Task, Result> | undefined
  private timer: Timer
  private readonly worker: Worker
  private readonly on: ThreadEvents

  constructor(program: string, on: ThreadEvents) {
    this.on = on
    this.worker = new Worker(program, { ref: false })
    this.worker.onmessage = ({ data }: MessageEvent<Answer<Result>>) => this.receive(data)
    this.worker.onerror = ({ message }) => this.terminate(new Error(message))
    this.worker.addEventListener('close', () => {
      this.terminate(new Error('the thread ended by itself'))
      this.on.closed()
    })
    this.timer = setTimeout(() => this.terminate(new ThreadTimeout()), MAX_START_MS)
    this.timer.unref()
  }

  take(job: ThreadJob<Task, Result>): void {
    clearTimeout(job.waitTimer)
    this.isIdle = false
    this.job = job
    this.timer = setTimeout(() => this.terminate(new ThreadTimeout()), job.deadlineMs)
    this.worker.postMessage(job.task)
  }

  /** Ends the thread; its job, if it has one, fails with the error. */
  terminate(error: Error): void {
    if (this.isTerminating) return
    this.isTerminating = true
    this.isIdle = false
    clearTimeout(this.timer)
    this.worker.terminate()
    this.job?.reject(error)
    if (!this.isStarted) this.on.notStarted(error)
    this.on.terminating()
  }

  private receive(answer: Answer<Result>): void {
    // A result can still be on its way when the deadline has ended the thread.
    if (this.isTerminating) return
    clearTimeout(this.timer)
    const job = this.job
    this.job = undefined
    this.isStarted = true
    this.isIdle = true
    if (answer.kind === 'done') job?.resolve(answer.result)
    if (answer.kind === 'failed') job?.reject(new Error(answer.message))
    this.on.idle()
  }
}
