import { type FileHandle, mkdir, open, rename, rm, stat, statfs, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { streamFile } from '../../../kernel/file-stream.ts'
import { randomHex } from '../../../kernel/hashing.ts'
import type { ByteRange } from '../../model.ts'
import type { Exit, Running } from '../process/process.ts'
import { cleanFolder, PARTIAL, type StreamCacheOption } from './clean.ts'
import { GrowingFile, type GrowingOption } from './growing-file.ts'

/** Never used by this cache: a full disk stops the database and every push. */
const SPARED_BYTES = 1024 ** 3

/** `name`: a digest of everything that the bytes depend on. */
export interface StreamKey {
  repositoryId: number
  name: string
}

export interface Making extends Pick<GrowingOption, 'judge'> {
  /** Starts Git with this open file as its standard output. */
  start(stdout: number): Promise<Running>
  /** Expected size. Where there is less room, the cache is not used. */
  expectedBytes: number
  /** Asked when Git has ended: whether the bytes are what the key says. */
  mayCache(exit: Exit): Promise<boolean>
}

/** Bytes in a file: cached, or still being written. */
export interface StreamedFile {
  /** Undefined while it is being written. */
  size: number | undefined
  /** Of the Git process; undefined for a cached file. */
  ended?: Promise<Exit>
  /** May be called several times. `signal`: of a reader who may leave before reading. */
  read(range?: ByteRange, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>
}

/** A file that is being written. */
interface Begun {
  growing: GrowingFile
  /** When it lies under its name, or never will. Never rejects. */
  settled: Promise<void>
}

const ALL: ByteRange = { start: 0, end: Number.POSITIVE_INFINITY }

/**
 * What Git computes for clients (packs, archives, large files), as files `<repository>/<name>`. Equal requests share one file, while
 * it is written and afterwards. Replicas may share the folder: a file appears by one rename, and a missing one is made again.
 */
export class StreamCache {
  readonly #option: StreamCacheOption
  readonly #making = new Map<string, Promise<Begun | undefined>>()
  /** Files being written, with the bytes reserved for each. */
  readonly #reserved = new Map<symbol, number>()
  #bytesSinceCleaning = 0

  constructor(option: StreamCacheOption) {
    this.#option = option
  }

  /** The cached file; undefined when there is none. */
  async find(key: StreamKey): Promise<(StreamedFile & { size: number }) | undefined> {
    const path = this.#pathOf(key)
    try {
      const now = this.#option.clock.now()
      // The files used last stay longest.
      await utimes(path, now, now)
      const found = await stat(path)
      if (!found.isFile()) return undefined
      const { size } = found
      return { size, read: (range) => readWhole(path, { start: 0, end: size, ...range }) }
    } catch {
      // Not there, or not readable: then Git makes the bytes anew.
      return undefined
    }
  }

  /**
   * The bytes of a key: cached, being written for somebody else, or written from now on. Without a key they are never shared.
   * Undefined where there is no room, or no folder to write to: the caller then streams from Git. Throws what `start` throws.
   */
  async open(key: StreamKey | undefined, making: Making): Promise<StreamedFile | undefined> {
    const cached = key && ((await this.find(key)) ?? (await this.#findSoon(key)))
    if (cached) return cached
    const begun = await (key ? this.#join(key, making) : this.#begin(undefined, making))
    if (!begun) return undefined
    const { growing } = begun
    return {
      size: growing.isWhole ? growing.size : undefined,
      ended: growing.ended,
      read: (range = ALL, signal) => growing.read(range, signal),
    }
  }

  /** Of a file that is whole, and whose readers have left before it got its name. */
  async #findSoon(key: StreamKey): Promise<StreamedFile | undefined> {
    const begun = await this.#making.get(this.#pathOf(key))
    if (!begun?.growing.isWhole || begun.growing.canBeRead) return undefined
    await begun.settled
    return this.find(key)
  }

  async #join(key: StreamKey, making: Making): Promise<Begun | undefined> {
    const path = this.#pathOf(key)
    const current = this.#making.get(path)
    const begun = await current
    if (begun?.growing.canBeRead) return begun
    // The readers of that one have left, or somebody has begun another meanwhile.
    if (this.#making.get(path) !== current) return this.#join(key, making)
    const next = this.#begin(key, making)
    this.#making.set(path, next)
    const forget = () => {
      if (this.#making.get(path) === next) this.#making.delete(path)
    }
    next.then((made) => (made ? made.settled.then(forget) : forget()), forget)
    return next
  }

  async #begin(key: StreamKey | undefined, making: Making): Promise<Begun | undefined> {
    const reservation = Symbol()
    const folder = key ? join(this.#option.folder, String(key.repositoryId)) : this.#option.folder
    const partial = join(folder, `${PARTIAL}${randomHex(16)}`)
    this.#reserved.set(reservation, making.expectedBytes)
    const file = await this.#openFile(folder, partial)
    if (!file) {
      this.#reserved.delete(reservation)
      return undefined
    }
    try {
      const child = await making.start(file.fd)
      const mayGrow = (bytes: number) => {
        this.#reserved.set(reservation, Math.max(bytes, making.expectedBytes))
        return this.#hasRoom()
      }
      const growing = new GrowingFile(file, child, { judge: making.judge, mayGrow })
      const settled = growing.ended
        .then((exit) => this.#settle(growing, { key, partial, isWanted: () => making.mayCache(exit) }))
        // The disk fails, or the repository was deleted meanwhile: then nothing is cached.
        .catch(() => undefined)
        .finally(() => this.#reserved.delete(reservation))
      return { growing, settled }
    } catch (error) {
      this.#reserved.delete(reservation)
      await file.close()
      await rm(partial, { force: true })
      throw error
    }
  }

  /** Undefined where there is no room, or where the folder cannot be written. */
  async #openFile(folder: string, path: string): Promise<FileHandle | undefined> {
    if (!this.#hasRoom()) return undefined
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const { bavail, bsize } = await statfs(folder)
      return bavail * bsize - this.#reservedBytes() < SPARED_BYTES ? undefined : await open(path, 'wx+', 0o600)
    } catch {
      // A cache that fails costs time, and no answer.
      return undefined
    }
  }

  #hasRoom(): boolean {
    return this.#reservedBytes() < this.#option.maxBytes
  }

  #reservedBytes(): number {
    return this.#reserved.values().reduce((sum, bytes) => sum + bytes, 0)
  }

  async #settle(
    growing: GrowingFile,
    { key, partial, isWanted }: { key: StreamKey | undefined; partial: string; isWanted(): Promise<boolean> },
  ): Promise<void> {
    try {
      if (!key || !growing.isWhole || !growing.canBeRead || !(await isWanted())) return
      await using file = await open(partial)
      // What a client finds under its name is whole, also after a power loss.
      await file.datasync()
      const now = this.#option.clock.now()
      await file.utimes(now, now)
      await rename(partial, this.#pathOf(key))
      this.#bytesSinceCleaning += growing.size
    } finally {
      await rm(partial, { force: true })
    }
    if (this.#bytesSinceCleaning * 10 > this.#option.maxBytes) await this.clean()
  }

  /** Everything of one repository. */
  async forget(repositoryId: number): Promise<void> {
    await rm(join(this.#option.folder, String(repositoryId)), { recursive: true, force: true })
  }

  /** Removes files unused for a day, then the longest unused until the rest is within the limit. Returns how many went. */
  async clean(): Promise<number> {
    this.#bytesSinceCleaning = 0
    return cleanFolder(this.#option)
  }

  #pathOf({ repositoryId, name }: StreamKey): string {
    return join(this.#option.folder, String(repositoryId), name)
  }
}

async function readWhole(path: string, { start, end }: ByteRange): Promise<ReadableStream<Uint8Array>> {
  const file = await open(path)
  return streamFile(file, start, { available: async () => end, close: () => file.close() })
}
