import { asc, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { removedObjects } from '../../../db/schema/attachments.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { FORGOTTEN_HOURS, forgottenBefore, removeForgotten } from '../../jobs/forgotten-objects.ts'
import { FOLDER, keyOf, uuidOf } from './objects.ts'
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

/** Removes what crashes left: uploads of any kind that did not end, and objects whose rows were never written. */
async function collectForgotten(context: Context, signal: AbortSignal): Promise<void> {
  const { db, objects, clock, log } = context
  const unfinished = await objects.removeUnfinished(forgottenBefore(clock.now()))
  const listKnown = (keys: readonly string[]) => listKnownKeys(db, keys)
  const removed = unfinished + (await removeForgotten(context, { name: FOLDER, listKnown }, signal))
  if (removed > 0) log.warn({ removed }, 'files that belong to nothing were removed')
}

async function listKnownKeys(db: Db, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const uuids = keys.map(uuidOf).filter((uuid) => uuid !== undefined)
  return new Set([...(await listKnown(db, uuids))].map(keyOf))
}

export const attachmentTasks: readonly CronTask[] = [
  {
    name: 'remove_deleted_attachments',
    schedule: '@every 1m',
    description: 'Remove the bytes of deleted files and artifacts',
    run: removeObjects,
  },
  {
    name: 'delete_forgotten_attachments',
    schedule: '@midnight',
    description: `Remove files that belong to nothing and are older than ${FORGOTTEN_HOURS} hours`,
    run: collectForgotten,
  },
]
