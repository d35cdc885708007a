import { threadProgram } from '../kernel/thread-program.ts'
import type { ThreadAnswer, ThreadTask } from './worker.ts'

export class RenderTimeout extends Error {}
export class RenderQueueFull extends Error {}

export interface Threads {
  /** @throws RenderTimeout, RenderQueueFull, or the failure of the task. */
  run(task: ThreadTask): Promise<string | undefined>
  stop(): void
}

export type ThreadProgram = 'markdown-worker.ts' | 'markup-worker.ts'

export interface ThreadOptions {
  program: ThreadProgram
  threads: number
  /** For one task, from the moment that a thread takes it. */
  deadlineMs: number
  maxWaiting: number
  /** How long a task may wait for a thread. */
  maxWaitMs: number
}

interface Job {
  task: ThreadTask
  resolve(html: string | undefined): void
  reject(error: Error): void
  waitTimer?: Timer
}

/** A thread that cannot start at all would otherwise be started again for ever. */
const MAX_START_MS = 20_000
/**
 * An ended thread works on until the search it is in is done, which may be long. So many may do that besides the living
 * ones; then tasks wait, or texts made for the purpose would take every processor.
 */
const MAX_DYING = 2

/**
 * A few threads that each do one task at a time. One that overruns its deadline is ended with what it holds, and a new one
 * starts with the next task: JavaScript cannot be interrupted from within. Threads do not keep the process alive.
 */
export function createThreads(options: ThreadOptions): Threads {
  const waiting: Job[] = []
  const threads = new Set<Thread>()
  let isStopped = false
  let dying = 0

  const next = () => {
    for (const thread of threads) {
      const job = thread.isIdle ? waiting.shift() : undefined
      if (job) thread.take(job)
    }
    if (waiting.length > 0 && threads.size < options.threads && dying < MAX_DYING) start()
  }
  const start = () => {
    const ended = () => {
      threads.delete(thread)
      dying++
      next()
    }
    const gone = () => {
      if (!threads.delete(thread)) dying--
      next()
    }
    const thread: Thread = new Thread(options, { idle: next, ended, gone })
    threads.add(thread)
  }
  return {
    run(task) {
      if (isStopped || waiting.length >= options.maxWaiting) return Promise.reject(new RenderQueueFull())
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
      const job: Job = { task, resolve, reject }
      job.waitTimer = setTimeout(() => {
        waiting.splice(waiting.indexOf(job), 1)
        reject(new RenderQueueFull())
      }, options.maxWaitMs)
      waiting.push(job)
      next()
      return promise
    },
    stop() {
      isStopped = true
      for (const job of waiting.splice(0)) {
        clearTimeout(job.waitTimer)
        job.reject(new RenderQueueFull())
      }
      for (const thread of threads) thread.end(new RenderQueueFull())
    },
  }
}

interface ThreadEvents {
  /** It waits for a task. */
  idle(): void
  /** It was told to end. */
  ended(): void
  /** Its program has really stopped. */
  gone(): void
}

class Thread {
  isIdle = false
  private readonly worker: Worker
  private job: Job | undefined
  private timer: Timer
  private readonly deadlineMs: number
  private readonly on: ThreadEvents

  constructor({ program, deadlineMs }: ThreadOptions, on: ThreadEvents) {
    this.deadlineMs = deadlineMs
    this.on = on
    this.worker = new Worker(threadProgram(`render/${program}`), { ref: false })
    this.worker.onmessage = (event: MessageEvent<ThreadAnswer>) => this.receive(event.data)
    this.worker.addEventListener('close', () => this.on.gone())
    this.worker.onerror = (event) => this.end(new Error(event.message))
    this.timer = setTimeout(() => this.end(new RenderTimeout()), MAX_START_MS)
    this.timer.unref()
  }

  take(job: Job): void {
    clearTimeout(job.waitTimer)
    this.isIdle = false
    this.job = job
    this.timer = setTimeout(() => this.end(new RenderTimeout()), this.deadlineMs)
    this.worker.postMessage(job.task)
  }

  end(error: Error): void {
    clearTimeout(this.timer)
    this.isIdle = false
    this.worker.terminate()
    const job = this.job
    this.job = undefined
    job?.reject(error)
    this.on.ended()
  }

  private receive(answer: ThreadAnswer): void {
    clearTimeout(this.timer)
    const job = this.job
    this.job = undefined
    this.isIdle = true
    if (answer.kind === 'done') {
      if (answer.error === undefined) job?.resolve(answer.html)
      else job?.reject(new Error(answer.error))
    }
    this.on.idle()
  }
}
