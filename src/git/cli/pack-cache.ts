import { mkdir, readdir, rm, rmdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '../../kernel/hashing.ts'
import type { Clock } from '../../kernel/time.ts'
import type { Child, Exit } from './process.ts'
import { Spool } from './spool.ts'

const PARTIAL = '.part-'
/** What is asked for again within that time is worth its place on the disk. */
const REPEAT_MS = 3_600_000
const MAX_SEEN = 10_000
/** Unused for so long, a pack goes. */
const UNUSED_MS = 24 * 3_600_000
/** Without a byte for so long, whoever was writing it is gone. */
const STALE_MS = 2 * 3_600_000
/** Many small packs weigh little but cost a look each. */
const MAX_FILES = 10_000

export interface PackCacheOption {
  folder: string
  /** Of all that is kept, and once more of what is being written. */
  maxBytes: number
  clock: Clock
}

/** A place in the cache: a repository, and the digest of everything that the answer depends on. */
export interface PackKey {
  id: number
  digest: string
}

/**
 * Answers to clones, as files `<id>/<digest>.<bytes>`. They are not flushed, which would take the disk from those who clone: one that
 * has lost its end with the power is seen by its length. Each replica looks after the folder, which they may share: a file appears by one
 * rename and a missing one is a miss.
 */
export class PackCache {
  readonly #option: PackCacheOption
  /** When a digest was asked for last, and when a repository last had a kept answer that somebody asked for; oldest first. */
  readonly #seen = new Map<string, number>()
  readonly #popular = new Map<number, number>()
  readonly #growing = new Map<string, Promise<Spool>>()
  readonly #spools = new Set<Spool>()
  /** What the last look at the folder has found, and what has come since. */
  #known = { bytes: 0, files: 0 }

  constructor(option: PackCacheOption) {
    this.#option = option
  }

  /** The kept answer; undefined when there is none. */
  async find({ id, digest }: PackKey): Promise<Blob | undefined> {
    const folder = this.#folderOf(id)
    const name = (await readdir(folder).catch(() => [])).find((name) => name.startsWith(`${digest}.`))
    if (name === undefined) return undefined
    const path = join(folder, name)
    try {
      const now = this.#option.clock.now()
      // What was used last is kept longest, so that it is still there when it is sent.
      await utimes(path, now, now)
      const file = await stat(path)
      if (file.isFile() && file.size === bytesIn(name)) {
        note(this.#popular, id, now.getTime())
        return Bun.file(path)
      }
      await rm(path, { recursive: true })
    } catch {
      // It was removed just now, or the disk fails: then git is asked.
    }
    return undefined
  }

  /** What somebody else is being sent at this moment, from its first byte. Throws what kept that from being begun. */
  async join({ digest }: PackKey): Promise<Spool | undefined> {
    const spool = await this.#growing.get(digest)
    return spool?.canJoin ? spool : undefined
  }

  /**
   * Whether to write the answer down: when the same was asked not long ago, or what was kept of the repository has served somebody, as
   * where several runners clone after each push. Most clones are the only ones of their kind, and stay off the disk.
   */
  isWorthKeeping({ id, digest }: PackKey): boolean {
    const now = this.#option.clock.now().getTime()
    const isRecent = (last: number | undefined) => last !== undefined && now - last < REPEAT_MS
    const isWorth = isRecent(this.#seen.get(digest)) || isRecent(this.#popular.get(id))
    note(this.#seen, digest, now)
    return isWorth
  }

  /** @param mayKeep asked once it is whole: whether it is what the key says */
  async write(key: PackKey, start: () => Promise<Child>, mayKeep: (exit: Exit) => Promise<boolean>): Promise<Spool> {
    const begun = this.#begin(key, start, mayKeep)
    this.#growing.set(key.digest, begun)
    const end = () => {
      if (this.#growing.get(key.digest) === begun) this.#growing.delete(key.digest)
    }
    begun.then((spool) => spool.settled.then(end), end)
    return begun
  }

  async #begin(key: PackKey, start: () => Promise<Child>, mayKeep: (exit: Exit) => Promise<boolean>): Promise<Spool> {
    const folder = this.#folderOf(key.id)
    const child = await start()
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined) // Then nothing can be written, and nothing is.
    const path = join(folder, `${PARTIAL}${randomHex(8)}`)
    const spool = new Spool(child, {
      path,
      room: () => this.#option.maxBytes - this.#bytesInTheMaking(),
      place: async (exit, bytes) => {
        if (!(await mayKeep(exit))) return undefined
        const now = this.#option.clock.now()
        await utimes(path, now, now)
        this.#known = { bytes: this.#known.bytes + bytes, files: this.#known.files + 1 }
        return join(folder, `${key.digest}.${bytes}`)
      },
    })
    this.#spools.add(spool)
    void spool.settled.then(() => this.#spools.delete(spool))
    return spool
  }

  #bytesInTheMaking(): number {
    return [...this.#spools].reduce((sum, { written }) => sum + written, 0)
  }

  /** Everything about one repository. */
  async forget(id: number): Promise<void> {
    await rm(this.#folderOf(id), { recursive: true, force: true })
  }

  /** Cleans, but only if there may be too much. */
  async keepWithinLimits(): Promise<void> {
    if (this.#known.bytes > this.#option.maxBytes || this.#known.files > MAX_FILES) await this.clean()
  }

  /** Removes what nobody has asked for in a day, and the longest unused until the rest fits. Returns how many went. */
  async clean(): Promise<number> {
    const now = this.#option.clock.now().getTime()
    const { maxBytes } = this.#option
    const files = (await this.#list()).sort((one, other) => other.usedAt - one.usedAt)
    let [bytes, count, removed] = [0, 0, 0]
    for (const file of files) {
      const isOld = now - file.usedAt > (file.isPartial ? STALE_MS : UNUSED_MS)
      const fits = file.isPartial || (bytes + file.bytes <= maxBytes && count < MAX_FILES)
      if (!isOld && fits) {
        bytes += file.isPartial ? 0 : file.bytes
        count += 1
        continue
      }
      await rm(file.path, { force: true })
      removed += 1
    }
    this.#known = { bytes, files: count }
    return removed
  }

  async #list(): Promise<{ path: string; bytes: number; usedAt: number; isPartial: boolean }[]> {
    const found = []
    for (const repository of await readdir(this.#option.folder).catch(() => [])) {
      const folder = join(this.#option.folder, repository)
      const names = await readdir(folder).catch(() => [])
      // Fails where one has come just now: then the folder stays.
      if (names.length === 0) await rmdir(folder).catch(() => undefined)
      for (const name of names) {
        const path = join(folder, name)
        const file = await stat(path).catch(() => undefined)
        if (file?.isFile())
          found.push({ path, bytes: file.size, usedAt: file.mtimeMs, isPartial: name.startsWith(PARTIAL) })
      }
    }
    return found
  }

  #folderOf(id: number): string {
    return join(this.#option.folder, String(id))
  }
}

function note<Key>(times: Map<Key, number>, key: Key, now: number): void {
  times.delete(key)
  times.set(key, now)
  const [oldest] = times.keys()
  if (times.size > MAX_SEEN && oldest !== undefined) times.delete(oldest)
}

const bytesIn = (name: string): number => Number(name.slice(name.indexOf('.') + 1))
