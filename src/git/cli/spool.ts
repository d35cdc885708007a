import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { garbageMeter } from '../../kernel/garbage.ts'
import { type Child, type Exit, guardStream } from './process.ts'

/** Bytes that one reader takes at once. */
const CHUNK = 256 * 1024

/** Bytes that are written at once: 64 KiB, as a pipe gives them, cost the server twice as much. */
const BATCH = 512 * 1024

interface Piece {
  at: number
  bytes: Uint8Array
}

interface Position {
  at: number
}

export interface SpoolOption {
  /** Of the file while it grows. */
  path: string
  /** Bytes that may still be written; asked before each piece. */
  room(): number
  /** Once everything is in the file: where it shall be from now on, undefined where it shall go. */
  place(exit: Exit, bytes: number): Promise<string | undefined>
}

/**
 * What a process prints, written to a file once and read by all who want it as it grows, each at their own pace.
 *
 * When no more can be written (no room, a full disk), those who read already get the rest from memory, piece by piece: the process
 * then waits for the slowest of them. When the last reader leaves before the end, the process is ended.
 */
export class Spool {
  readonly #option: SpoolOption
  readonly #output: ReadableStreamDefaultReader<Uint8Array>
  readonly #positions = new Set<Position>()
  /** What is not written yet, and one more for readers who keep up; once no more is written, what somebody has not taken yet. */
  #pieces: Piece[] = []
  #file: FileHandle | undefined
  #written = 0
  #printed = 0
  #isFull = false
  #isGivenUp = false
  #isClosed = false
  #end: { error?: unknown } | undefined
  #change = Promise.withResolvers<void>()
  /** How the process has ended. Never rejects. */
  readonly exited: Promise<Exit>
  /** When the file is in its place, or gone. Never rejects. */
  readonly settled: Promise<void>

  constructor(child: Child, option: SpoolOption) {
    this.#option = option
    this.#output = guardStream(child, () => undefined).getReader()
    this.exited = child.exited
    this.settled = this.#run()
    void this.settled.then(() => this.#close())
  }

  /** Bytes on the disk. */
  get written(): number {
    return this.#written
  }

  /** Whether a reader who comes now gets everything from the first byte. */
  get canJoin(): boolean {
    return !this.#isFull && !this.#isGivenUp && !this.#isClosed && this.#end?.error === undefined
  }

  /**
   * From the first byte. Fails where the process was ended by us.
   * @param signal of a reader who may go before the first byte is asked for
   */
  read(signal?: AbortSignal): ReadableStream<Uint8Array> {
    const position = { at: 0 }
    const passed = garbageMeter()
    this.#positions.add(position)
    signal?.addEventListener('abort', () => void this.#leave(position), { once: true })
    if (signal?.aborted) void this.#leave(position)
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const bytes = await this.#next(position)
            if (bytes !== undefined) {
              passed(bytes.length)
              return controller.enqueue(bytes)
            }
            controller.close()
          } catch (error) {
            controller.error(error)
          }
          await this.#leave(position)
        },
        cancel: () => this.#leave(position),
      },
      { highWaterMark: 0 },
    )
  }

  async #next(position: Position): Promise<Uint8Array | undefined> {
    for (;;) {
      const { promise: change } = this.#change
      const piece = this.#pieces.find(({ at }) => at === position.at)
      const bytes = piece?.bytes ?? (await this.#readFile(position.at))
      if (bytes !== undefined) {
        position.at += bytes.length
        if (this.#isFull) this.#dropPassed()
        return bytes
      }
      if (this.#end?.error !== undefined) throw this.#end.error
      if (this.#end) return undefined
      await change
    }
  }

  async #readFile(at: number): Promise<Uint8Array | undefined> {
    const length = Math.min(CHUNK, this.#written - at)
    if (length <= 0 || this.#file === undefined) return undefined
    const { bytesRead, buffer } = await this.#file.read(new Uint8Array(length), 0, length, at)
    if (bytesRead === 0) throw new Error('a file has become shorter while it was read')
    return buffer.subarray(0, bytesRead)
  }

  async #leave(position: Position): Promise<void> {
    if (!this.#positions.delete(position)) return
    if (this.#positions.size > 0) return this.#dropPassed()
    this.#wake()
    if (!this.#end) await this.#giveUp()
  }

  async #giveUp(): Promise<void> {
    this.#isGivenUp = true
    this.#pieces = []
    await this.#output.cancel()
  }

  /** Without a file, what everybody has taken makes place for the next piece. */
  #dropPassed(): void {
    if (!this.#isFull) return
    const slowest = Math.min(...[...this.#positions].map(({ at }) => at))
    this.#pieces = this.#pieces.filter(({ at }) => at >= slowest)
    this.#wake()
  }

  #wake(): void {
    const { resolve } = this.#change
    this.#change = Promise.withResolvers<void>()
    resolve()
  }

  async #run(): Promise<void> {
    await this.#open()
    try {
      for (let next = await this.#output.read(); !next.done; next = await this.#output.read())
        await this.#take(next.value)
      if (!this.#isFull && !this.#isGivenUp) await this.#write()
      this.#end = {}
    } catch (error) {
      this.#end = { error }
    }
    this.#wake()
    await this.#settle().catch(() => this.#giveUpFile())
  }

  async #close(): Promise<void> {
    while (this.#positions.size > 0) await this.#change.promise
    this.#isClosed = true
    await this.#file?.close()
  }

  async #open(): Promise<void> {
    try {
      this.#file = await open(this.#option.path, 'wx+', 0o600)
    } catch {
      this.#isFull = true // A cache that cannot be written is none: the readers get everything from memory.
    }
  }

  /** Readers who keep up need not wait for the disk. */
  async #take(bytes: Uint8Array): Promise<void> {
    this.#pieces.push({ at: this.#printed, bytes })
    this.#printed += bytes.length
    this.#wake()
    if (!this.#isFull && this.#printed - this.#written >= BATCH) await this.#write()
    while (this.#isFull && this.#pieces.length > 0 && this.#positions.size > 0) await this.#change.promise
    // Nobody is left, and nobody can join. Whom it was begun for has come before the process could print anything.
    if (this.#isFull && this.#positions.size === 0) await this.#giveUp()
  }

  /** Everything that is not in the file yet. */
  async #write(): Promise<void> {
    const pieces = this.#pieces.filter(({ at }) => at >= this.#written)
    const length = this.#printed - this.#written
    try {
      if (length > this.#option.room()) throw new Error('there is no room')
      const chunks = pieces.map(({ bytes }) => bytes)
      const { bytesWritten = 0 } = (await this.#file?.writev(chunks, this.#written)) ?? {}
      if (bytesWritten < length) throw new Error('the disk is full')
      this.#written += length
      this.#pieces = pieces.slice(-1)
    } catch {
      this.#isFull = true
      this.#dropPassed()
      await this.#giveUpFile()
    }
  }

  /** Readers keep what they have open. */
  async #giveUpFile(): Promise<void> {
    await rm(this.#option.path, { force: true }).catch(() => undefined) // Cleaned up later as what a killed process left.
  }

  async #settle(): Promise<void> {
    const exit = await this.exited
    const isWhole = !this.#isFull && !this.#isGivenUp && this.#end?.error === undefined
    const place = isWhole ? await this.#option.place(exit, this.#written) : undefined
    if (place === undefined) return this.#giveUpFile()
    await rename(this.#option.path, place)
  }
}
