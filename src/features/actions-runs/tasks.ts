import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import {
  type ActionsJobRow,
  type ActionsTaskRow,
  actionsJobs,
  actionsRuns,
  actionsTasks,
} from '../../../db/schema/actions.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { LoadedRun } from './store.ts'

export interface LoadedTask extends LoadedRun {
  task: ActionsTaskRow
  job: ActionsJobRow
}

/** A task that the runner has got itself; of others it learns nothing. */
export async function findOwnTask(db: Db, id: number, runnerId: number): Promise<LoadedTask | undefined> {
  const [row] = await db
    .select({ task: actionsTasks, job: actionsJobs, run: actionsRuns, repository: repositories, owner: users })
    .from(actionsTasks)
    .innerJoin(actionsJobs, eq(actionsJobs.id, actionsTasks.jobId))
    .innerJoin(actionsRuns, eq(actionsRuns.id, actionsJobs.runId))
    .innerJoin(repositories, eq(repositories.id, actionsRuns.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(eq(actionsTasks.id, id), eq(actionsTasks.runnerId, runnerId)))
  return row
}

/** What the runner says while the task runs, and with its end. */
export async function keepTaskState(
  tx: Db,
  id: number,
  said: Partial<Pick<ActionsTaskRow, 'steps' | 'outputs' | 'lastSeenAt'>>,
): Promise<void> {
  await tx.update(actionsTasks).set(said).where(eq(actionsTasks.id, id))
}
