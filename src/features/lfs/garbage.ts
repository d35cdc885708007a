import { and, asc, eq, gt, lt, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { lfsObjects, repositoryLfsObjects } from '../../../db/schema/lfs.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { FOLDER } from './objects.ts'
import { MAX_POINTER_BYTES, readPointer } from './pointer.ts'
import { useHeld } from './store.ts'

const DAY_MS = 86_400_000
const BATCH = 500

/**
 * Removes what nobody needs: from repositories the objects that no file in Git has stood for in LFS_UNUSED_DAYS, then contents that no
 * repository has, then files of the store that have no row.
 */
async function collectGarbage(context: Context, signal: AbortSignal): Promise<void> {
  const unused = await dropUnused(context, signal)
  const contents = await removeUnheld(context, signal)
  const strays = await removeStrays(context, signal)
  if (unused + contents + strays > 0) context.log.info({ unused, contents, strays }, 'objects of Git LFS removed')
}

async function dropUnused(context: Context, signal: AbortSignal): Promise<number> {
  const { db, clock, config, log } = context
  if (config.lfsUnusedDays === 0) return 0
  const before = new Date(clock.now().getTime() - config.lfsUnusedDays * DAY_MS)
  let [dropped, after] = [0, 0]
  for (;;) {
    const ids = await listDue(db, { before, after })
    for (const id of ids) {
      if (signal.aborted) return dropped
      try {
        dropped += await dropUnusedOf(context, { repositoryId: id, before }, signal)
      } catch (err) {
        // Nothing is dropped of what could not be read. It is looked at again tomorrow.
        if (signal.aborted) return dropped
        if (!isGitError(err, 'not-found')) log.error({ err, repositoryId: id }, 'the use of Git LFS is not known')
      }
    }
    after = ids.at(-1) ?? after
    if (ids.length < BATCH) return dropped
  }
}

async function listDue(db: Db, { before, after }: { before: Date; after: number }): Promise<number[]> {
  const rows = await db
    .selectDistinct({ id: repositoryLfsObjects.repositoryId })
    .from(repositoryLfsObjects)
    .where(and(gt(repositoryLfsObjects.repositoryId, after), lt(repositoryLfsObjects.usedAt, before)))
    .orderBy(asc(repositoryLfsObjects.repositoryId))
    .limit(BATCH)
  return rows.map(({ id }) => id)
}

/** Notes of every object that a pointer names that it is in use, and drops those that were not in use for so long. */
async function dropUnusedOf(
  context: Context,
  { repositoryId, before }: { repositoryId: number; before: Date },
  signal: AbortSignal,
): Promise<number> {
  const { db, git } = context
  await markUsed(context, repositoryId, signal)
  const unused = and(eq(repositoryLfsObjects.repositoryId, repositoryId), lt(repositoryLfsObjects.usedAt, before))
  if ((await db.$count(repositoryLfsObjects, unused)) === 0) return 0
  // Of a damaged repository it is not known what its lost files stand for.
  const { isSound } = await git.fsck(repositoryId, {}, { signal })
  if (!isSound) return 0
  const rows = await db.delete(repositoryLfsObjects).where(unused).returning({ id: repositoryLfsObjects.objectId })
  return rows.length
}

async function markUsed({ db, git, clock }: Context, repositoryId: number, signal: AbortSignal): Promise<void> {
  const now = clock.now()
  let oids: string[] = []
  const mark = async () => {
    if (oids.length > 0) await useHeld(db, { repositoryId, oids, now })
    oids = []
  }
  for await (const bytes of git.smallBlobs(repositoryId, { maxBytes: MAX_POINTER_BYTES - 1 }, { signal })) {
    const pointer = readPointer(bytes)
    if (pointer) oids.push(pointer.oid)
    if (oids.length === BATCH) await mark()
  }
  await mark()
}

/** The row goes first: whoever finds it finds the content. */
async function removeUnheld({ db, objects }: Context, signal: AbortSignal): Promise<number> {
  let removed = 0
  while (!signal.aborted) {
    const keys = await db.transaction(deleteUnheld)
    for (const key of keys) await objects.remove(key)
    removed += keys.length
    if (keys.length === 0) break
  }
  return removed
}

/** Locked, then asked once more: a repository that was just given one of them holds its row. */
async function deleteUnheld(tx: Db): Promise<string[]> {
  const isUnheld = sql`not exists (
    select 1 from ${repositoryLfsObjects} where ${repositoryLfsObjects.objectId} = ${lfsObjects.id})`
  const rows = await tx
    .select({ id: lfsObjects.id })
    .from(lfsObjects)
    .where(isUnheld)
    .limit(BATCH)
    .for('update', { skipLocked: true })
  const ids = rows.map(({ id }) => id)
  const deleted = await tx
    .delete(lfsObjects)
    .where(and(anyOf(lfsObjects.id, ids), isUnheld))
    .returning({ key: lfsObjects.storeKey })
  return deleted.map(({ key }) => key)
}

/** Most that are removed in one run. */
const MAX_STRAYS = 10_000

/**
 * Removes files of the store that uploads have left that did not come to their end. Where they are most of all, the database is another
 * one, or older: then nothing is removed.
 */
async function removeStrays({ db, objects, clock, config, log }: Context, signal: AbortSignal): Promise<number> {
  const before = clock.now().getTime() - Math.max(DAY_MS, 2000 * config.gitTimeoutSeconds)
  const strays: string[] = []
  let [files, old]: [number, string[]] = [0, []]
  const look = async () => {
    strays.push(...(await listUnknown(db, old)))
    old = []
  }
  for await (const { key, modifiedAt } of objects.list(FOLDER)) {
    if (signal.aborted || strays.length >= MAX_STRAYS) break
    files += 1
    if (modifiedAt.getTime() < before) old.push(key)
    if (old.length === BATCH) await look()
  }
  await look()
  if (strays.length * 2 > files) {
    log.warn({ files, strays: strays.length }, 'most files of Git LFS have no row: none is removed')
    return 0
  }
  for (const key of strays) await objects.remove(key)
  return strays.length
}

async function listUnknown(db: Db, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return []
  const rows = await db.select({ key: lfsObjects.storeKey }).from(lfsObjects).where(anyOf(lfsObjects.storeKey, keys))
  const known = new Set(rows.map(({ key }) => key))
  return keys.filter((key) => !known.has(key))
}

export const lfsTasks: readonly CronTask[] = [
  {
    name: 'gc_lfs',
    schedule: '@every 24h',
    description: 'Remove objects of Git LFS that no file in Git stands for any more',
    run: collectGarbage,
  },
]
