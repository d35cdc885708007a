import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
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
  const [row] = await selectTasks(db).where(and(eq(actionsTasks.id, id), eq(actionsTasks.runnerId, runnerId)))
  return row
}

/** Of an attempt at a job. Any whole number may be asked for. */
export async function findTaskId(db: Db, jobId: number, attempt: number): Promise<number | undefined> {
  const [row] = await db
    .select({ id: actionsTasks.id })
    .from(actionsTasks)
    .where(and(eq(actionsTasks.jobId, jobId), sql`${actionsTasks.attempt} = ${attempt}::bigint`))
  return row?.id
}

const selectTasks = (db: Db) =>
  db
    .select({ task: actionsTasks, job: actionsJobs, run: actionsRuns, repository: repositories, owner: users })
    .from(actionsTasks)
    .innerJoin(actionsJobs, eq(actionsJobs.id, actionsTasks.jobId))
    .innerJoin(actionsRuns, eq(actionsRuns.id, actionsJobs.runId))
    .innerJoin(repositories, eq(repositories.id, actionsRuns.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))

/** What the runner says while the task runs. False when it has ended meanwhile. */
export async function keepTaskState(
  db: Db,
  { id, ...said }: Pick<ActionsTaskRow, 'id' | 'steps' | 'outputs' | 'lastSeenAt'>,
): Promise<boolean> {
  const kept = await db
    .update(actionsTasks)
    .set(said)
    .where(and(eq(actionsTasks.id, id), isAtWork))
    .returning({ id: actionsTasks.id })
  return kept.length > 0
}

const isAtWork = eq(actionsTasks.status, 'in_progress')

/** Tasks at work of which something is true, the oldest first. There are no more at work than runners have hands. */
export const listTasksAtWork = (db: Db, which: SQL, limit: number): Promise<{ taskId: number; runId: number }[]> =>
  db
    .select({ taskId: actionsTasks.id, runId: actionsJobs.runId })
    .from(actionsTasks)
    .innerJoin(actionsJobs, eq(actionsJobs.id, actionsTasks.jobId))
    .where(and(isAtWork, which))
    .orderBy(asc(actionsTasks.id))
    .limit(limit)

/** The tasks at work of a run, which is locked. Holds them until the transaction ends. */
export const lockTasksOfRun = (tx: Db, runId: number): Promise<LoadedTask[]> =>
  selectTasks(tx)
    .where(and(eq(actionsJobs.runId, runId), isAtWork))
    .orderBy(asc(actionsTasks.id))
    .for('update', { of: actionsTasks })

/** Holds the task until the transaction ends. Undefined where it has ended, or that is no longer true of it. The run is locked. */
export async function lockTaskAtWork(tx: Db, id: number, which: SQL): Promise<LoadedTask | undefined> {
  const [row] = await selectTasks(tx)
    .where(and(eq(actionsTasks.id, id), isAtWork, which))
    .for('update', { of: actionsTasks })
  return row
}
