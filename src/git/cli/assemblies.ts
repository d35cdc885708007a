import { sha256Hex } from '../../kernel/hashing.ts'
import { errorCode } from '../../kernel/thrown.ts'
import { isGitError } from '../errors.ts'
import type { ObjectFormat } from '../model.ts'
import { type OpenAssembly, openAssembly } from './assembled.ts'
import { type Assembly, assemble, EMPTY_TREE } from './assembly.ts'
import { Memo } from './memo.ts'
import { type Runner, runGit } from './process.ts'
import { listStoredPacks, type StoredPack } from './stored-packs.ts'

/** Each is a file that is open while it is sent. */
const MAX_PACKS = 32
/**
 * Whose reachability is found out without a bitmap: a second of git's, who would need the same to begin with a pack. And as many may
 * be in the small packs, whose ids are compared one by one: 0.3 s.
 */
const MAX_OBJECTS = 200_000
/** Whose indexes are read: 28 MB. */
const MAX_INDEXED = 1_000_000
/** Of different questions in vain, before a repository is left in peace until its largest pack is another. */
const MAX_MISSES = 3
const MAX_KNOWN = 10_000
/** Whose checksum is made after a push: 35 ms. */
const MAX_SUMMED_BYTES = 64 * 1024 * 1024
/**
 * Open at once, for all clients together: one that reads slowly keeps up to 32 of them. With more, git makes packs, and few at once.
 */
const MAX_FILES = 2000
/** The graph of commits names some whose objects may be gone: one such would be counted for another that is stored. */
const SETTINGS = [['core.commitGraph', 'false']] as const

export interface CloneSubject {
  id: number
  folder: string
  format: ObjectFormat
  /** Ids that everything reachable from is asked for. */
  wants: readonly string[]
  /** What a clone of everything asks for: looked into, whatever was asked in vain before. */
  isLikely?: boolean
}

interface Known {
  /** The packs that were there. */
  stamp: string
  assembly: Assembly | undefined
}

/**
 * Clones that the packs on the disk are the answer to, laid end to end: where they hold exactly what is asked for, no object more. As
 * after a first push, after maintenance, and after small pushes since then. Then git need not read, check and write all of it again:
 * 250 ms of two processors for 20 MiB, where sending takes 20.
 *
 * What packs hold and what a commit reaches never changes, so what was found out once stays true for as long as the files are there.
 */
export class Assemblies {
  readonly #runner: Runner
  readonly #known = new Memo<Known>(MAX_KNOWN)
  readonly #misses = new Memo<number>(MAX_KNOWN)
  readonly #running = new Map<string, Promise<Assembly | undefined>>()
  #files = 0

  constructor(runner: Runner) {
    this.#runner = runner
  }

  /** To be sent, or closed. Undefined where git has to make the pack. */
  async open(subject: CloneSubject): Promise<OpenAssembly | undefined> {
    for (const _ of [1, 2]) {
      const assembly = await this.find(subject)
      const files = assembly?.pieces.length ?? 0
      if (!assembly || this.#files + files > MAX_FILES) return undefined
      this.#files += files
      const letGo = () => {
        this.#files -= files
      }
      try {
        const opened = await openAssembly(assembly)
        void opened.closed.then(letGo)
        return opened
      } catch {
        letGo()
        // Most often its packs have been joined: what is there now may be an answer as well.
        this.#known.drop(subject.id, questionOf(subject))
      }
    }
    return undefined
  }

  /** What is to be sent, once its packs are open. Undefined as from `open`. */
  async find(subject: CloneSubject): Promise<Assembly | undefined> {
    const question = questionOf(subject)
    const known = this.#known.find(subject.id, question)?.assembly
    if (known) return known
    const key = `${subject.id} ${question}`
    const running = this.#running.get(key) ?? this.#findOut(subject, question)
    this.#running.set(key, running)
    return running.finally(() => this.#running.delete(key))
  }

  /**
   * Finds out what is to be sent next, and its checksum, which depends on the number of objects and so on each push: else the first
   * to be sent it would wait for it, 11 ms for 20 MiB.
   */
  async prepare(subject: CloneSubject): Promise<void> {
    const assembly = await this.find({ ...subject, isLikely: true })
    if (!assembly || assembly.checksum || bytesOf(assembly) > MAX_SUMMED_BYTES) return
    const opened = await this.open(subject)
    await opened?.send(async () => undefined)
  }

  forget(id: number): void {
    this.#known.forget(id)
    this.#misses.forget(id)
  }

  async #findOut(subject: CloneSubject, question: string): Promise<Assembly | undefined> {
    try {
      return await this.#assemble(subject, question)
    } catch (error) {
      // Whatever a disk can fail with, git will say it better. That it is busy now says nothing about the packs.
      if (errorCode(error) !== undefined || isGitError(error)) return undefined
      throw error
    }
  }

  async #assemble(subject: CloneSubject, question: string): Promise<Assembly | undefined> {
    const { id, folder, format, isLikely = false } = subject
    const packs = await listStoredPacks(folder, MAX_PACKS)
    const stamp = packs && stampOf(packs)
    if (!stamp || this.#known.find(id, question)?.stamp === stamp || !isWithinLimits(packs)) return undefined
    const largest = largestOf(packs).path
    const misses = this.#misses.find(id, largest) ?? 0
    if (misses >= MAX_MISSES && !isLikely) return undefined
    const all = await assemble(packs, format)
    const isExact = all !== undefined && all.objects === (await this.#countReachable(subject, all))
    const after = await listStoredPacks(folder, MAX_PACKS)
    // Something has moved meanwhile: perhaps the next one finds it out.
    if (!after || stampOf(after) !== stamp) return undefined
    const assembly = isExact ? all : undefined
    this.#misses.keep(id, largest, isExact ? 0 : misses + 1)
    this.#known.keep(id, question, { stamp, assembly })
    return assembly
  }

  /** Undefined where git does not know: something is missing or damaged. */
  async #countReachable({ folder, wants, format }: CloneSubject, all: Assembly): Promise<number | undefined> {
    const args = ['rev-list', '--objects', '--count', '--use-bitmap-index', '--stdin']
    // Counted without being stored, the tree of nothing would stand for an object that is stored and not reachable. So it is counted in
    // any case, and taken off; to exclude it, git would do without bitmaps. It is not sent then: each git knows it.
    const unstored = all.hasEmptyTree ? [] : [EMPTY_TREE[format]]
    try {
      const stdin = `${[...wants, ...unstored].join('\n')}\n`
      // In the queue of clones, whose time this is, but for no longer than a short command.
      const call = { timeoutMs: this.#runner.timeouts.commandMs }
      const { stdout } = await runGit(this.#runner, { args, folder, settings: SETTINGS, stdin, call, isTransfer: true })
      return Number(stdout.toString()) - unstored.length
    } catch (error) {
      if (isGitError(error) && error.kind !== 'busy') return undefined
      throw error
    }
  }
}

const questionOf = ({ format, wants }: CloneSubject): string =>
  sha256Hex(`${format} ${[...new Set(wants)].sort().join(' ')}`)

const stampOf = (packs: readonly StoredPack[]): string =>
  sha256Hex(
    packs
      .map(({ path, bytes }) => `${path} ${bytes}`)
      .sort()
      .join('\n'),
  )

const largestOf = (packs: readonly StoredPack[]): StoredPack =>
  packs.reduce((one, other) => (other.bytes > one.bytes ? other : one))

const bytesOf = ({ pieces }: Assembly): number => pieces.reduce((sum, { from, to }) => sum + to - from, 0)

function isWithinLimits(packs: readonly StoredPack[]): boolean {
  const sum = (some: readonly StoredPack[]) => some.reduce((total, { objects }) => total + objects, 0)
  const largest = largestOf(packs)
  const unmapped = packs.filter(({ hasBitmap }) => !hasBitmap)
  const others = packs.filter((pack) => pack !== largest)
  return sum(packs) <= MAX_INDEXED && sum(unmapped) <= MAX_OBJECTS && sum(others) <= MAX_OBJECTS
}
