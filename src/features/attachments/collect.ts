import { asc, eq } from 'drizzle-orm'
import { removedObjects } from '../../../db/schema/attachments.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { FOLDER, uuidOf } from './objects.ts'
import { listKnown } from './store.ts'

const BATCH = 100

/** Removes the objects whose rows are gone. One that cannot be removed keeps its place, and fails the run. */
async function removeObjects({ db, objects }: Context, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const oldest = db.select().from(removedObjects).orderBy(asc(removedObjects.key)).limit(BATCH)
    const rows = await oldest
    for (const { key } of rows) {
      await objects.remove(key)
      await db.delete(removedObjects).where(eq(removedObjects.key, key))
    }
    if (rows.length < BATCH) return
  }
}

const HOUR_MS = 3_600_000
/** The row of an object is written right after it. Nothing is younger when it is taken for forgotten. */
const FORGOTTEN_HOURS = 24

/** Removes what crashes left: uploads that did not end, and objects whose rows were never written. */
async function collectForgotten(context: Context, signal: AbortSignal): Promise<void> {
  const { objects, clock, log } = context
  const before = new Date(clock.now().getTime() - FORGOTTEN_HOURS * HOUR_MS)
  let removed = await objects.removeUnfinished(before)
  let batch: string[] = []
  for await (const { key, modifiedAt } of objects.list(FOLDER)) {
    if (signal.aborted) return
    if (modifiedAt >= before) continue
    batch.push(key)
    if (batch.length < BATCH) continue
    removed += await removeForgotten(context, batch)
    batch = []
  }
  removed += await removeForgotten(context, batch)
  if (removed > 0) log.warn({ removed }, 'files that belong to nothing were removed')
}

/** Returns how many were removed. */
async function removeForgotten({ db, objects }: Context, keys: readonly string[]): Promise<number> {
  const uuids = keys.map(uuidOf).filter((uuid) => uuid !== undefined)
  const known = await listKnown(db, uuids)
  const forgotten = keys.filter((key) => !known.has(uuidOf(key) ?? ''))
  for (const key of forgotten) await objects.remove(key)
  return forgotten.length
}

export const attachmentTasks: readonly CronTask[] = [
  {
    name: 'remove_deleted_attachments',
    schedule: '@every 1m',
    description: 'Remove the files of deleted releases, issues and comments',
    run: removeObjects,
  },
  {
    name: 'delete_forgotten_attachments',
    schedule: '@midnight',
    description: `Remove files that belong to nothing and are older than ${FORGOTTEN_HOURS} hours`,
    run: collectForgotten,
  },
]
