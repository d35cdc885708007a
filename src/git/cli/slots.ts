import { GitError } from '../errors.ts'

/** How many processes of one sort may run at once, and how many callers may wait for one. */
export class Slots {
  readonly #max: number
  readonly #maxQueue: number
  readonly #queue = new Set<() => void>()
  #used = 0

  constructor(max: number, maxQueue: number) {
    this.#max = max
    this.#maxQueue = maxQueue
  }

  /** Resolves to the function that gives the slot back. Throws `busy` when the queue is full, `aborted` by the signal. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#used >= this.#max) {
      if (this.#queue.size >= this.#maxQueue) throw new GitError('busy', 'busy', 'too many git processes')
      await this.#wait(signal)
    } else {
      this.#used++
    }
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#release()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const granted = () => {
        signal.removeEventListener('abort', gaveUp)
        resolve()
      }
      const gaveUp = () => {
        this.#queue.delete(granted)
        reject(signal.reason)
      }
      this.#queue.add(granted)
      signal.addEventListener('abort', gaveUp, { once: true })
    })
  }

  /** The slot goes to the first who waits, so `used` stays as it is. */
  #release(): void {
    const [next] = this.#queue
    if (next) {
      this.#queue.delete(next)
      next()
    } else {
      this.#used--
    }
  }
}
