import type { FileHandle } from 'node:fs/promises'
import { streamFile } from '../../../kernel/file-stream.ts'
import { GitError } from '../../errors.ts'
import type { ByteRange } from '../../model.ts'
import type { Exit, Running } from '../process/process.ts'

/** Pause between two looks at the size of the file, in ms: short while it grows, longer while Git computes. */
const SHORTEST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 100

export interface GrowingOption {
  /** Says whether the way Git ended is an error for those who read. */
  judge(exit: Exit): GitError | undefined
  /** Asked with each new size. False ends Git. */
  mayGrow(bytes: number): boolean
}

/**
 * A file that a Git process writes as its standard output, read by any number of clients while it grows. Git never waits for a
 * client, so its place is free as soon as it has computed the answer, however slowly the clients read.
 */
export class GrowingFile {
  readonly #file: FileHandle
  readonly #child: Running
  readonly #option: GrowingOption
  readonly #readers = new Set<symbol>()
  #size = 0
  #end: { error: GitError | undefined } | undefined
  #refusal: GitError | undefined
  #isAbandoned = false
  #isClosed = false
  #change = Promise.withResolvers<void>()
  /** How Git ended. The size is final then. Never rejects. */
  readonly ended: Promise<Exit>

  constructor(file: FileHandle, child: Running, option: GrowingOption) {
    this.#file = file
    this.#child = child
    this.#option = option
    this.ended = this.#follow()
  }

  get size(): number {
    return this.#size
  }

  /** Git has ended, and what it wrote is a whole answer. */
  get isWhole(): boolean {
    return this.#end !== undefined && this.#end.error === undefined
  }

  /** False when the last reader has left before the end, after a failure, and once the file is closed. */
  get canBeRead(): boolean {
    return !this.#isAbandoned && !this.#isClosed && this.#end?.error === undefined
  }

  /**
   * Waits for the first byte, or for the end of an answer without any. Throws the error that kept Git from writing. When the last reader leaves
   * before the end, Git is ended. @param signal of a reader who may leave before reading
   */
  async read({ start, end }: ByteRange, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const reader = Symbol()
    this.#readers.add(reader)
    const leave = () => this.#leave(reader)
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted) leave()
    const close = async () => {
      signal?.removeEventListener('abort', leave)
      leave()
    }
    try {
      await this.#sizeBeyond(0)
      // The file may be closed already.
      if (!this.#readers.has(reader)) throw new GitError('aborted', 'aborted', 'the reader went away')
    } catch (error) {
      await close()
      throw error
    }
    const available = async (at: number) => Math.min(end, await this.#sizeBeyond(at))
    return streamFile(this.#file, start, { available, close })
  }

  async #follow(): Promise<Exit> {
    let pause = SHORTEST_PAUSE_MS
    let exit: Exit | undefined
    void this.#child.exited.then((ended) => {
      exit = ended
    })
    for (let isOver = false; !isOver; ) {
      await Promise.race([this.#child.exited, Bun.sleep(pause)])
      isOver = exit !== undefined
      const { size } = await this.#file.stat()
      pause = size > this.#size ? SHORTEST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS)
      if (size > this.#size) this.#grow(size)
    }
    const ended = await this.#child.exited
    // Git may have ended before it could be stopped.
    this.#end = { error: this.#refusal ?? ended.stopped ?? this.#option.judge(ended) }
    this.#wake()
    await this.#closeIfUnused()
    return ended
  }

  #grow(size: number): void {
    this.#size = size
    if (!this.#refusal && !this.#option.mayGrow(size)) {
      this.#refusal = new GitError('too-large', 'limit', 'the answer is larger than the cache of streams')
      this.#child.stop(this.#refusal)
    }
    this.#wake()
  }

  /** Waits until there are bytes behind `at`. Gives the final size when no more will come. */
  async #sizeBeyond(at: number): Promise<number> {
    while (this.#size <= at && !this.#end) await this.#change.promise
    if (this.#size <= at && this.#end?.error) throw this.#end.error
    return this.#size
  }

  #leave(reader: symbol): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return
    if (this.#end) void this.#closeIfUnused()
    else {
      this.#isAbandoned = true
      this.#child.stop(new GitError('aborted', 'aborted', 'all readers went away'))
    }
  }

  async #closeIfUnused(): Promise<void> {
    if (this.#readers.size > 0 || this.#isClosed) return
    this.#isClosed = true
    await this.#file.close()
  }

  #wake(): void {
    const { resolve } = this.#change
    this.#change = Promise.withResolvers<void>()
    resolve()
  }
}
