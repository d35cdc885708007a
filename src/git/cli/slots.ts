import { GitError } from '../errors.ts'

/** What one repository may take of all there is, so that slow work on it leaves something for the others. */
const shareOf = (all: number): number => Math.ceil((all * 3) / 4)

interface Waiter {
  subject: string | undefined
  grant(): void
}

/** How many processes of one sort may run at once, and how many callers may wait for one. */
export class Slots {
  readonly #max: number
  readonly #maxQueue: number
  readonly #queue = new Set<Waiter>()
  /** Running ones of each subject. */
  readonly #running = new Map<string | undefined, number>()
  #used = 0

  constructor(max: number, maxQueue: number) {
    this.#max = max
    this.#maxQueue = maxQueue
  }

  /**
   * Resolves to the function that gives the slot back. Throws `busy` when the queue is full, `aborted` by the signal.
   * @param subject whose share is counted: the folder of a repository
   */
  async acquire(signal: AbortSignal, subject?: string): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#mayRun(subject)) this.#take(subject)
    else if (this.#mayWait(subject)) await this.#wait(signal, subject)
    else throw new GitError('busy', 'busy', 'too many git processes')
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#release(subject)
    }
  }

  #mayRun(subject: string | undefined): boolean {
    if (this.#used >= this.#max) return false
    return subject === undefined || (this.#running.get(subject) ?? 0) < shareOf(this.#max)
  }

  #mayWait(subject: string | undefined): boolean {
    if (this.#queue.size >= this.#maxQueue) return false
    const before = subject === undefined ? [] : [...this.#queue].filter((waiter) => waiter.subject === subject)
    return before.length < shareOf(this.#maxQueue)
  }

  #take(subject: string | undefined): void {
    this.#used++
    this.#running.set(subject, (this.#running.get(subject) ?? 0) + 1)
  }

  #wait(signal: AbortSignal, subject: string | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        subject,
        grant: () => {
          signal.removeEventListener('abort', gaveUp)
          resolve()
        },
      }
      const gaveUp = () => {
        this.#queue.delete(waiter)
        reject(signal.reason)
      }
      this.#queue.add(waiter)
      signal.addEventListener('abort', gaveUp, { once: true })
    })
  }

  /** The slot goes to the first who waits and may have it. */
  #release(subject: string | undefined): void {
    this.#used--
    const left = (this.#running.get(subject) ?? 1) - 1
    if (left > 0) this.#running.set(subject, left)
    else this.#running.delete(subject)
    for (const waiter of this.#queue) {
      if (!this.#mayRun(waiter.subject)) continue
      this.#queue.delete(waiter)
      this.#take(waiter.subject)
      waiter.grant()
      return
    }
  }
}
