import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { FORGOTTEN_HOURS, removeForgotten } from '../../jobs/forgotten-objects.ts'
import { FOLDER } from './objects.ts'
import { expireSome, listKnownKeys, removeAbandoned } from './store.ts'

/** The bytes go soon after, as those of every row that names them no longer. */
async function cleanUp({ db, clock }: Context, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await removeAbandoned(db)) > 0);
  while (!signal.aborted && (await expireSome(db, clock.now())) > 0);
}

async function collectForgotten(context: Context, signal: AbortSignal): Promise<void> {
  const listKnown = (keys: readonly string[]) => listKnownKeys(context.db, keys)
  const removed = await removeForgotten(context, { name: FOLDER, listKnown }, signal)
  if (removed > 0) context.log.warn({ removed }, 'parts of artifacts that belong to nothing were removed')
}

export const artifactTasks: readonly CronTask[] = [
  {
    name: 'cleanup_actions',
    schedule: '@every 1h',
    description: 'Remove artifacts that have expired, and those that their jobs have not finished',
    run: cleanUp,
  },
  {
    name: 'delete_forgotten_artifacts',
    schedule: '@midnight',
    description: `Remove parts of artifacts that belong to nothing and are older than ${FORGOTTEN_HOURS} hours`,
    run: collectForgotten,
  },
]
