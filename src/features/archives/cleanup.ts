import { readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { PARTIAL } from './build.ts'

const DAY_MS = 24 * 3600 * 1000
/** Without a byte for so long, whoever was making it is gone. */
const STALE_MS = 2 * 3600 * 1000
/** Many small archives weigh little but cost a look each. */
const MAX_FILES = 10_000

interface Kept {
  path: string
  bytes: number
  usedAt: number
  isPartial: boolean
}

/** Removes archives that nobody has asked for in a day, and the oldest ones until the rest fits. Returns how many went. */
export async function cleanArchives(context: Context, folder: string, signal?: AbortSignal): Promise<number> {
  const now = context.clock.now().getTime()
  const files = (await listFiles(folder)).sort((a, b) => b.usedAt - a.usedAt)
  let bytes = 0
  let count = 0
  let removed = 0
  for (const file of files) {
    if (signal?.aborted) break
    const isOld = now - file.usedAt > (file.isPartial ? STALE_MS : DAY_MS)
    const fits = bytes + file.bytes <= context.config.archiveCacheBytes && count < MAX_FILES
    if (!isOld && (fits || file.isPartial)) {
      bytes += file.bytes
      count += 1
      continue
    }
    await rm(file.path, { force: true })
    removed += 1
  }
  return removed
}

async function listFiles(folder: string): Promise<Kept[]> {
  const found: Kept[] = []
  for (const repository of await readdir(folder).catch(() => [])) {
    const place = join(folder, repository)
    const names = await readdir(place).catch(() => [])
    // Fails where there still are files, and where one has come just now: then the folder stays.
    if (names.length === 0) await rmdir(place).catch(() => undefined)
    for (const name of names) {
      const path = join(place, name)
      const file = await stat(path).catch(() => undefined)
      if (file?.isFile())
        found.push({ path, bytes: file.size, usedAt: file.mtimeMs, isPartial: name.startsWith(PARTIAL) })
    }
  }
  return found
}

/** What was added since the last look, by folder. */
const growth = new Map<string, { bytes: number; files: number }>()

/** Counts a new archive; now and then the cleaning does not wait for the night. */
export function noteGrowth(context: Context, bytes: number): void {
  const folder = archivesFolderOf(context)
  const before = growth.get(folder) ?? { bytes: 0, files: 0 }
  const sum = { bytes: before.bytes + bytes, files: before.files + 1 }
  const isMuch = sum.bytes * 10 > context.config.archiveCacheBytes || sum.files * 10 > MAX_FILES
  growth.set(folder, isMuch ? { bytes: 0, files: 0 } : sum)
  if (!isMuch) return
  cleanArchives(context, folder).catch((err: unknown) => context.log.warn({ err }, 'archives could not be cleaned'))
}

export const archivesFolderOf = ({ config }: Pick<Context, 'config'>): string => join(config.dataDir, 'archives')

export const archiveTasks: readonly CronTask[] = [
  {
    name: 'archive_cleanup',
    schedule: '@midnight',
    description: 'Remove archives of repositories that nobody has asked for in a day',
    run: async (context, signal) => {
      const removed = await cleanArchives(context, archivesFolderOf(context), signal)
      if (removed > 0) context.log.info({ removed }, 'old archives removed')
    },
  },
]
