import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import {
  type ActionsJobRow,
  type ActionsRunRow,
  type ActionsTaskRow,
  actionsDisabledWorkflows,
  actionsJobs,
  actionsRuns,
  actionsTasks,
} from '../../../db/schema/actions.ts'
import { type RepositoryRow, repositories, repositoryCounters } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'

/** A job with what its runner said it made. */
export interface JobWithOutputs {
  job: ActionsJobRow
  outputs: ActionsTaskRow['outputs'] | null
}

export interface LoadedRun {
  run: ActionsRunRow
  repository: RepositoryRow
  owner: UserRow
}

export async function loadRun(db: Db, id: number): Promise<LoadedRun | undefined> {
  const [row] = await db
    .select({ run: actionsRuns, repository: repositories, owner: users })
    .from(actionsRuns)
    .innerJoin(repositories, eq(repositories.id, actionsRuns.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(eq(actionsRuns.id, id))
  return row
}

/** In the order of the file. */
export const loadJobs = (db: Db, runId: number): Promise<JobWithOutputs[]> =>
  db
    .select({ job: actionsJobs, outputs: actionsTasks.outputs })
    .from(actionsJobs)
    .leftJoin(actionsTasks, eq(actionsTasks.id, actionsJobs.taskId))
    .where(eq(actionsJobs.runId, runId))
    .orderBy(asc(actionsJobs.position), asc(actionsJobs.id))

/** Its jobs alone. There are at most MAX_RUN_JOBS. */
export const listRunJobs = (db: Db, runId: number): Promise<ActionsJobRow[]> =>
  db.select().from(actionsJobs).where(eq(actionsJobs.runId, runId)).orderBy(asc(actionsJobs.id))

/**
 * The run is given its id and number before it is planned, because its contexts name them. Numbers that come to nothing are left out.
 * Undefined where the repository is gone.
 */
export async function reserveRun(db: Db, repositoryId: number): Promise<{ id: number; number: number } | undefined> {
  const [row] = await db
    .update(repositoryCounters)
    .set({ lastRunNumber: sql`${repositoryCounters.lastRunNumber} + 1` })
    .where(eq(repositoryCounters.repositoryId, repositoryId))
    .returning({ id: sql<string>`nextval('actions_runs_id_seq')`, number: repositoryCounters.lastRunNumber })
  return row && { id: Number(row.id), number: row.number }
}

/** The workflows that an event has started already. */
export async function listStartedPaths(db: Db, eventId: number): Promise<Set<string>> {
  const rows = await db
    .select({ path: actionsRuns.workflowPath })
    .from(actionsRuns)
    .where(eq(actionsRuns.eventId, eventId))
  return new Set(rows.map(({ path }) => path))
}

/** Names of files that somebody has switched off. */
export async function listDisabled(db: Db, repositoryId: number): Promise<Set<string>> {
  const rows = await db
    .select({ file: actionsDisabledWorkflows.workflowFile })
    .from(actionsDisabledWorkflows)
    .where(eq(actionsDisabledWorkflows.repositoryId, repositoryId))
  return new Set(rows.map(({ file }) => file))
}

/** False where it was switched off before. */
export async function disableWorkflow(
  tx: Db,
  repositoryId: number,
  workflowFile: string,
  createdAt: Date,
): Promise<boolean> {
  const made = await tx
    .insert(actionsDisabledWorkflows)
    .values({ repositoryId, workflowFile, createdAt })
    .onConflictDoNothing()
    .returning()
  return made.length > 0
}

/** False where it was not switched off. */
export async function enableWorkflow(tx: Db, repositoryId: number, workflowFile: string): Promise<boolean> {
  const gone = await tx
    .delete(actionsDisabledWorkflows)
    .where(
      and(
        eq(actionsDisabledWorkflows.repositoryId, repositoryId),
        eq(actionsDisabledWorkflows.workflowFile, workflowFile),
      ),
    )
    .returning()
  return gone.length > 0
}

/** Holds the run until the transaction ends. Undefined where it is gone or has moved on since `revision`. */
export async function lockRun(tx: Db, id: number, revision?: number): Promise<ActionsRunRow | undefined> {
  const [row] = await tx
    .select()
    .from(actionsRuns)
    .where(and(eq(actionsRuns.id, id), revision === undefined ? undefined : eq(actionsRuns.revision, revision)))
    .for('update')
  return row
}
