import { GitError } from '../../errors.ts'
import type { Call } from '../../model.ts'
import { startDeadline } from '../process/deadline.ts'
import { type Answer, BatchEnded, BatchProcess, batchFailed, type Question } from './batch.ts'

export interface ReadersOption {
  binary: string
  environment: Record<string, string>
  folderOf(id: number): string
  /** Throws `not-found` `repository`. */
  requireFolder(id: number): Promise<string>
  /** Processes at once, over all repositories. */
  max: number
  maxQueue: number
  idleMs: number
  timeoutMs: number
}

interface Reader {
  process: BatchProcess
  /** Callers that hold it: from the moment it was chosen, before their question is pending. */
  users: number
  idle: ReturnType<typeof setTimeout> | undefined
}

/** Questions in one portion: git's answers are read while they are asked, and a deadline can end in between. */
const PORTION = 2000

/**
 * The `cat-file` processes that stay for the next question, one for a repository. The one unused for longest gives way; when all are
 * busy the caller waits.
 * A process that dies is replaced once, as its questions only read.
 */
export class Readers {
  readonly #option: ReadersOption
  /** In order of use, the last used at the end. */
  readonly #readers = new Map<number, Reader>()
  readonly #queue = new Set<() => void>()

  constructor(option: ReadersOption) {
    this.#option = option
  }

  get count(): number {
    return this.#readers.size
  }

  async ask(id: number, questions: Question[], call?: Call): Promise<Answer[]> {
    const deadline = startDeadline(call, this.#option.timeoutMs)
    try {
      const answers: Answer[] = []
      for (let at = 0; at < questions.length; at += PORTION) {
        answers.push(...(await this.#askPortion(id, questions.slice(at, at + PORTION), deadline.signal)))
      }
      return answers
    } finally {
      deadline.clear()
    }
  }

  async #askPortion(id: number, questions: Question[], signal: AbortSignal): Promise<Answer[]> {
    for (let attempt = 0; attempt < 2; attempt++) {
      signal.throwIfAborted()
      const reader = await this.#take(id, signal)
      try {
        return await untilAborted(reader.process.ask(questions), signal)
      } catch (error) {
        // One that does not answer in time is stuck (a dead disk, a damaged pack): nobody should wait behind it.
        if (error instanceof GitError && error.kind === 'timeout') this.drop(id)
        if (!(error instanceof BatchEnded)) throw error
        await this.#option.requireFolder(id)
      } finally {
        this.#giveBack(id, reader)
      }
    }
    throw batchFailed()
  }

  async #take(id: number, signal: AbortSignal): Promise<Reader> {
    for (;;) {
      const known = this.#readers.get(id)
      if (known && !known.process.isEnded) {
        this.#readers.delete(id)
        this.#readers.set(id, known)
        return hold(known)
      }
      if (known || this.#readers.size < this.#option.max || this.#evict()) {
        await this.#option.requireFolder(id)
        // Another caller may have started one, or filled the pool, while the folder was looked at.
        if (this.#readers.has(id) && this.#readers.get(id)?.process.isEnded === false) continue
        if (!this.#readers.has(id) && this.#readers.size >= this.#option.max) continue
        return hold(this.#start(id))
      }
      await this.#wait(signal)
    }
  }

  #start(id: number): Reader {
    const { binary, environment, folderOf } = this.#option
    const process = new BatchProcess(binary, folderOf(id), environment)
    const reader: Reader = { process, users: 0, idle: undefined }
    this.#readers.set(id, reader)
    void process.ended.then(() => {
      clearTimeout(reader.idle)
      if (this.#readers.get(id) === reader) this.#readers.delete(id)
      this.#wake()
    })
    return reader
  }

  #giveBack(id: number, reader: Reader): void {
    reader.users--
    if (reader.users > 0 || reader.process.isEnded || this.#readers.get(id) !== reader) return
    reader.idle = setTimeout(() => reader.process.kill(), this.#option.idleMs)
    reader.idle.unref()
    this.#wake()
  }

  #evict(): boolean {
    for (const [id, { process, users, idle }] of this.#readers) {
      if (users > 0) continue
      clearTimeout(idle)
      process.kill()
      this.#readers.delete(id)
      return true
    }
    return false
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#queue.size >= this.#option.maxQueue)
      throw new GitError('busy', 'busy', 'too many readers of repositories')
    let wake = () => {}
    try {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      this.#queue.add(wake)
      await untilAborted(woken, signal)
    } finally {
      this.#queue.delete(wake)
    }
  }

  #wake(): void {
    const [next] = this.#queue
    if (!next) return
    this.#queue.delete(next)
    next()
  }

  /** Ends the process of a repository; the next question starts a new one. */
  drop(id: number): void {
    this.#readers.get(id)?.process.kill()
    this.#readers.delete(id)
    this.#wake()
  }

  async close(): Promise<void> {
    const processes = [...this.#readers.values()].map((reader) => reader.process)
    for (const process of processes) process.kill()
    await Promise.all(processes.map((process) => process.ended))
  }
}

function hold(reader: Reader): Reader {
  reader.users++
  clearTimeout(reader.idle)
  return reader
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
