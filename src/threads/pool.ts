import { PooledThread, type ThreadJob, ThreadTimeout } from './pooled-thread.ts'

export { ThreadTimeout }

/** Too many tasks wait, this one waited for too long, or the pool has stopped. */
export class ThreadsBusy extends Error {}

export interface ThreadPool<Task, Result> {
  /** @throws ThreadTimeout, ThreadsBusy, or an Error with the message of the task's own failure */
  run(task: Task): Promise<Result>
  /** Ends the threads and refuses what waits. */
  stop(): void
}

export interface ThreadPoolOptions {
  /** By `locateProgram`: a module that calls `serveTasks` with the same types of task and result. */
  program: string
  /** How many threads there are at most. Each starts with the first task that finds no idle thread. */
  threads: number
  /** For one task, from the moment that a thread takes it. */
  deadlineMs: number
  maxWaiting: number
  /** How long a task may wait for a thread. */
  maxWaitMs: number
}

/**
 * A terminated thread works on until the search in a regular expression that it is in has ended. So many of them may do that
 * beside the living ones; then tasks wait, or tasks made for the purpose would take every processor.
 */
const MAX_DYING = 2

/**
 * The one pool of threads: each thread does one task at a time, in the order of arrival. A thread that overruns its deadline is
 * ended, because nothing else interrupts JavaScript, and another one starts with the next task. Threads do not keep the process alive.
 *
 * Why not a library: piscina 5 and tinypool 2 do not find the file of their own worker in a compiled executable, and workerpool 10
 * never answers under Bun 1.4.
 */
export function createThreadPool<Task, Result>(options: ThreadPoolOptions): ThreadPool<Task, Result> {
  const waiting: ThreadJob<Task, Result>[] = []
  const threads = new Set<PooledThread<Task, Result>>()
  let dying = 0
  let isStopped = false

  const next = () => {
    for (const thread of threads) {
      const job = thread.isIdle ? waiting.shift() : undefined
      if (job) thread.take(job)
    }
    if (waiting.length > 0 && threads.size < options.threads && dying < MAX_DYING) threads.add(start())
  }
  const start = () => {
    const thread: PooledThread<Task, Result> = new PooledThread(options.program, {
      idle: next,
      // A task has to fail for each thread in vain, or threads would be started without end.
      notStarted: (error) => refuse(waiting.shift(), error),
      terminating() {
        threads.delete(thread)
        dying++
        next()
      },
      closed() {
        dying--
        next()
      },
    })
    return thread
  }
  return {
    run(task) {
      if (isStopped || waiting.length >= options.maxWaiting) return Promise.reject(new ThreadsBusy())
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      const leave = () => {
        waiting.splice(waiting.indexOf(job), 1)
        reject(new ThreadsBusy())
      }
      const job = {
        task,
        resolve,
        reject,
        deadlineMs: options.deadlineMs,
        waitTimer: setTimeout(leave, options.maxWaitMs),
      }
      waiting.push(job)
      next()
      return promise
    },
    stop() {
      isStopped = true
      for (const job of waiting.splice(0)) refuse(job, new ThreadsBusy())
      for (const thread of threads) thread.terminate(new ThreadsBusy())
    },
  }
}

function refuse<Task, Result>(job: ThreadJob<Task, Result> | undefined, error: Error): void {
  clearTimeout(job?.waitTimer)
  job?.reject(error)
}
