import { readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyIfMissing, noneIfMissing } from '../../../kernel/missing.ts'
import type { Clock } from '../../../kernel/time.ts'

/** Beginning of the names of files that are being written. */
export const PARTIAL = '.part-'
/** A file unused for so long goes. */
const UNUSED_MS = 24 * 3_600_000
/** Without a byte for so long, the process that was writing it is gone. */
const STALE_MS = 2 * 3_600_000
/** Many small files take little space, but each costs a look. */
const MAX_FILES = 10_000

export interface StreamCacheOption {
  folder: string
  /** Bytes of all cached files, and once more of those that are being written. */
  maxBytes: number
  clock: Clock
}

interface Found {
  path: string
  bytes: number
  usedAt: number
  isPartial: boolean
}

/** The work of `StreamCache.clean`. */
export async function cleanFolder({ folder, maxBytes, clock }: StreamCacheOption): Promise<number> {
  const now = clock.now().getTime()
  let [bytes, count, removed] = [0, 0, 0]
  for (const file of (await listFiles(folder)).sort((one, other) => other.usedAt - one.usedAt)) {
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
  return removed
}

async function listFiles(root: string): Promise<Found[]> {
  const found: Found[] = []
  for (const entry of await readdir(root, { withFileTypes: true }).catch(emptyIfMissing)) {
    const path = join(root, entry.name)
    if (entry.isFile()) found.push(...(await look(path)))
    if (!entry.isDirectory()) continue
    const names = await readdir(path).catch(emptyIfMissing)
    // Fails where a file has come just now: then the folder stays.
    if (names.length === 0) await rmdir(path).catch(() => undefined)
    for (const name of names) found.push(...(await look(join(path, name))))
  }
  return found
}

async function look(path: string): Promise<Found[]> {
  const file = await stat(path).catch(noneIfMissing)
  if (!file?.isFile()) return []
  return [{ path, bytes: file.size, usedAt: file.mtimeMs, isPartial: path.includes(`/${PARTIAL}`) }]
}
