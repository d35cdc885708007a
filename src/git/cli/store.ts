import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { errorCode } from '../../kernel/thrown.ts'
import type { Clock } from '../../kernel/time.ts'
import { GitError } from '../errors.ts'
import type { Changes, ObjectFormat } from '../model.ts'
import { storagePath } from '../storage.ts'
import type { Memo } from './cache/memo.ts'
import type { StreamCache } from './cache/stream-cache.ts'
import type { Readers } from './objects/readers.ts'
import type { Runner } from './process/process.ts'

/** What the parts of the engine share. */
export interface Store {
  readonly runner: Runner
  /** Of git. */
  readonly version: string
  readonly readers: Readers
  readonly formats: Memo<ObjectFormat>
  /** What a fetch by version 2 is greeted with. */
  readonly offers: Map<ObjectFormat, Uint8Array<ArrayBuffer>>
  /** Lists of refs as clients get them, as long as no ref moves. */
  readonly refLists: RefLists
  /** Packs, archives and large files on their way to clients. */
  readonly streams: StreamCache
  readonly counts: Memo<number>
  /** Ids of one page of a log. */
  readonly logs: Memo<string[]>
  /** Of single commits against their first parents. */
  readonly changes: Memo<Changes>
  readonly lastCommits: Memo<Map<string, string>>
  readonly maxPushBytes: number
  /** Time of one hook; undefined when none may run. */
  readonly hookSeconds: number | undefined
}

export const folderOf = (root: string, id: number): string => join(root, storagePath(id))

export async function isRepository(folder: string): Promise<boolean> {
  return stat(join(folder, 'HEAD')).then(
    (file) => file.isFile(),
    () => false,
  )
}

/** The folder of a repository. Throws `not-found` `repository`. */
export async function requireFolder(root: string, id: number): Promise<string> {
  const folder = folderOf(root, id)
  if (await isRepository(folder)) return folder
  throw new GitError('not-found', 'repository', `repository ${id} is not in the store`)
}

/** Fixed when a repository is made, so it is read once. */
export async function objectFormatOf(store: Store, id: number): Promise<ObjectFormat> {
  return store.formats.get(id, 'format', async () => readObjectFormat(await requireFolder(store.runner.root, id)))
}

export async function readObjectFormat(folder: string): Promise<ObjectFormat> {
  const config = await readFile(join(folder, 'config'), 'utf8').catch((error: unknown) => {
    // It was there a moment ago: the repository is being deleted.
    if (errorCode(error) === 'ENOENT')
      throw new GitError('not-found', 'repository', 'the repository is not in the store')
    throw error
  })
  return /^\s*objectformat\s*=\s*"?sha256"?\s*$/im.test(config) ? 'sha256' : 'sha1'
}

/** One cached list: some 30,000 refs. */
export const MAX_LIST_BYTES = 2 * 1024 * 1024
const MAX_BYTES = 32 * 1024 * 1024
/** Git is asked again after ten minutes: what it says of a damaged tag changes with the repair, though no ref moves. */
const MAX_AGE_MS = 600_000

export type RefLists = LRUCache<string, Uint8Array<ArrayBuffer>>

export const createRefLists = (clock: Clock): RefLists =>
  new LRUCache({
    maxSize: MAX_BYTES,
    // With what it takes to keep even an empty one.
    sizeCalculation: ({ length }) => length + 512,
    ttl: MAX_AGE_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now().getTime() },
  })
