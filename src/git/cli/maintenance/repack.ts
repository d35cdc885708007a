import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyedMutex } from '../../../kernel/keyed-mutex.ts'
import { emptyIfMissing, noneIfMissing } from '../../../kernel/missing.ts'
import type { Call } from '../../model.ts'
import { runGit } from '../process/process.ts'
import { requireFolder, type Store } from '../store.ts'

/** Every push, and every commit of the API, leaves one pack, and each look-up of an object asks every pack. */
const MAX_PACKS = 20
/** Packs that no bitmap knows may hold a tenth of the bytes. Git walks through what they hold for each clone. */
const MAX_UNMAPPED_SHARE = 0.1

interface Pack {
  name: string
  bytes: number
  changedAt: number
}

const FULL = [['gc', '--quiet', '--prune=2.weeks.ago', '--no-cruft']]

/**
 * Rolls those packs up that are not yet twice as large as their smaller ones: so the number of packs stays logarithmic, at a cost
 * near that of the new objects.
 */
const ROLL_UP = [
  ['repack', '-d', '--quiet', '--geometric=2', '--write-midx', '--write-bitmap-index'],
  ['pack-refs', '--all', '--prune'],
]
const COMMIT_GRAPH = ['commit-graph', 'write', '--reachable', '--split', '--no-progress']

/** `isFull` repacks everything and drops what has been unreachable for two weeks. */
export async function maintain(
  store: Store,
  id: number,
  { isFull = false }: { isFull?: boolean } = {},
  call?: Call,
): Promise<void> {
  await run(store, id, isFull ? FULL : [...ROLL_UP, COMMIT_GRAPH], call)
}

/**
 * Keeps a repository quick after pushes: a clone needs a bitmap of what its commits reach, and a log the graph of commits. Does nothing
 * where little has come since the last time.
 */
export async function maintainIfNeeded(store: Store, id: number, call?: Call): Promise<void> {
  const folder = join(await requireFolder(store.runner.root, id), 'objects', 'pack')
  const names = await readdir(folder).catch(emptyIfMissing)
  const packs = await readPacks(folder, names)
  const [largest] = packs
  if (!largest) return
  if (packs.length > MAX_PACKS) return maintain(store, id, {}, call)
  const mappedAt = Math.max(0, ...(await Promise.all(names.filter(isMap).map((name) => changedAt(join(folder, name))))))
  const unmapped = packs.filter((pack) => pack.changedAt > mappedAt)
  if (bytesOf(unmapped) <= bytesOf(packs) * MAX_UNMAPPED_SHARE) return
  // Git sends the objects of the preferred pack as they are.
  const bitmap = ['multi-pack-index', 'write', '--bitmap', `--preferred-pack=${largest.name}`, '--no-progress']
  await run(store, id, [bitmap, COMMIT_GRAPH], call)
}

/** Two at once would find each other's locks. Another replica may: then the job fails, and is tried again. */
const atWork = createKeyedMutex<string>()

async function run(store: Store, id: number, steps: string[][], call: Call | undefined): Promise<void> {
  const folder = await requireFolder(store.runner.root, id)
  await atWork.run(folder, async () => {
    for (const args of steps) await runGit(store.runner, { args, folder, call, isTransfer: true, memory: 'any' })
  })
}

/** Largest first. Those that are joined with others at this moment are left out. */
async function readPacks(folder: string, names: readonly string[]): Promise<Pack[]> {
  const found = names
    .filter((name) => /^pack-[0-9a-f]+\.pack$/.test(name))
    .map(async (name) => {
      const file = await stat(join(folder, name)).catch(noneIfMissing)
      return file && { name, bytes: file.size, changedAt: file.mtimeMs }
    })
  return (await Promise.all(found)).filter((pack) => pack !== undefined).sort((one, other) => other.bytes - one.bytes)
}

const isMap = (name: string): boolean => name.endsWith('.bitmap')
const bytesOf = (packs: readonly Pack[]): number => packs.reduce((sum, { bytes }) => sum + bytes, 0)
const changedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
