import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { badRequest, tooLarge } from '../../kernel/errors.ts'
import { errorCode } from '../../kernel/thrown.ts'

/** Beginning of the names of files that are not whole yet. */
export const PARTIAL = '.part-'

/** Bytes that one reader takes at once. */
const CHUNK = 256 * 1024

/** Begins to make the bytes. */
export type Source = (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>

/** An archive while Git makes it: written to the disk once, read by all who want it as it grows. */
export class Build {
  readonly #abort = new AbortController()
  readonly #partial: string
  readonly #target: string
  #size = 0
  #isWhole = false
  #failure: unknown
  #readers = 0
  #grown = Promise.withResolvers<void>()
  /** When it is whole and in its place, or has failed. Never rejects. */
  readonly done: Promise<void>

  /** @param room bytes that may still be written; asked before each chunk */
  constructor(target: string, source: Source, room: () => number) {
    this.#target = target
    this.#partial = `${dirname(target)}/${PARTIAL}${randomUUID()}`
    this.done = this.#run(source, room)
  }

  get size(): number {
    return this.#size
  }

  /** The last reader has left before the end: who comes now needs another. */
  get isGivenUp(): boolean {
    return this.#abort.signal.aborted
  }

  /**
   * From the first byte, once there is one: a failure to begin is thrown as what it is, a later one breaks the stream. When the
   * last reader goes before the end, the work is given up.
   * @param signal of a reader who may go before there is a first byte
   */
  async read(signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    this.#readers += 1
    try {
      await untilAborted(this.#limit(0), signal)
      const file = await this.#open()
      return streamFile(file, { limit: (at) => this.#limit(at), close: () => this.#leave() })
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  async #limit(at: number): Promise<number> {
    while (at >= this.#size && !this.#isWhole) await this.#growth()
    return this.#size
  }

  /** It may get its final name at any moment. */
  async #open(): Promise<FileHandle> {
    try {
      return await open(this.#partial)
    } catch (error) {
      if (this.#failure !== undefined) throw this.#failure
      if (errorCode(error) === 'ENOENT') return open(this.#target)
      throw error
    }
  }

  #leave(): void {
    this.#readers -= 1
    if (this.#readers === 0 && !this.#isWhole) this.#abort.abort()
  }

  async #growth(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    await this.#grown.promise
    if (this.#failure !== undefined) throw this.#failure
  }

  #wake(): void {
    const { resolve } = this.#grown
    this.#grown = Promise.withResolvers<void>()
    resolve()
  }

  async #run(source: Source, room: () => number): Promise<void> {
    try {
      await mkdir(dirname(this.#target), { recursive: true, mode: 0o700 })
      await using file = await open(this.#partial, 'wx', 0o600)
      await this.#write(file, await source(this.#abort.signal), room)
      // A file that is in place is whole, also after the power was lost.
      await file.datasync()
      await rename(this.#partial, this.#target)
      this.#isWhole = true
    } catch (error) {
      this.#failure = error
      await rm(this.#partial, { force: true })
    }
    this.#wake()
  }

  async #write(file: FileHandle, stream: ReadableStream<Uint8Array>, room: () => number): Promise<void> {
    for await (const chunk of stream) {
      if (chunk.length > room()) throw tooLarge('there is no room for so large an archive')
      let written = 0
      while (written < chunk.length) written += (await file.write(chunk, written)).bytesWritten
      this.#size += chunk.length
      this.#wake()
    }
  }
}

function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work
  const { promise: gone, reject } = Promise.withResolvers<never>()
  const leave = () => reject(badRequest('the request was broken off'))
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  return Promise.race([work, gone]).finally(() => signal.removeEventListener('abort', leave))
}

/** Closes the file at the end, after a failure and when the reader leaves. */
function streamFile(file: FileHandle, { limit, close }: Growing): ReadableStream<Uint8Array> {
  let at = 0
  let isOpen = true
  const finish = async () => {
    if (!isOpen) return
    isOpen = false
    close()
    await file.close()
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const end = await limit(at)
          if (at === end) {
            await finish()
            return controller.close()
          }
          const bytes = new Uint8Array(Math.min(CHUNK, end - at))
          const { bytesRead } = await file.read(bytes, 0, bytes.length, at)
          if (bytesRead === 0) throw new Error('an archive has become shorter')
          at += bytesRead
          controller.enqueue(bytes.subarray(0, bytesRead))
        } catch (error) {
          await finish()
          controller.error(error)
        }
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  )
}

interface Growing {
  /** Up to where there are bytes: waits until there are some behind `at`, and gives `at` itself when no more will come. */
  limit(at: number): Promise<number>
  close(): void
}
