import { and, asc, desc, eq, exists, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { actionsJobs, actionsRuns, actionsTasks } from '../../../db/schema/actions.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'
import type { ShownJob } from '../../wire/actions-job.ts'
import type { ShownRun } from '../../wire/actions-run.ts'
import type { ShownTask } from '../../wire/actions-task.ts'
import { type Extent, idsOfPage, inStates, isWithin } from './filters.ts'

const triggerActors = alias(users, 'trigger_actors')

/** A run, and where it belongs. */
export interface ListedRun extends ShownRun {
  run: ShownRun['run'] & { repositoryId: number }
}

export interface RunFilter {
  extent: Extent
  statuses?: readonly string[] | undefined
  event?: string | undefined
  /** Short. */
  branch?: string | undefined
  /** The name of who caused it. */
  actor?: string | undefined
  headSha?: string | undefined
}

/** The newest first. @throws Refusal 400 for an unknown status */
export async function listRuns(context: Context, filter: RunFilter, page: Page): Promise<Paged<ListedRun>> {
  const { db } = context
  const { extent } = filter
  const filters = and(
    inStates(actionsRuns, filter.statuses),
    filter.event === undefined ? undefined : eq(actionsRuns.event, filter.event),
    filter.branch === undefined ? undefined : eq(actionsRuns.ref, `refs/heads/${filter.branch}`),
    filter.headSha === undefined ? undefined : eq(actionsRuns.headSha, filter.headSha),
    filter.actor === undefined ? undefined : causedBy(db, filter.actor),
  )
  const ids = idsOfPage(context, actionsRuns, { extent, filter: filters, order: desc, page })
  const rows = selectRuns(db).where(inArray(actionsRuns.id, ids)).orderBy(desc(actionsRuns.id))
  const where = and(isWithin(context, actionsRuns, extent), filters)
  const [found, total] = await Promise.all([rows, db.$count(actionsRuns, where)])
  return numberedPage(page, { rows: found.map(shownRun), total })
}

const causedBy = (db: Db, name: string): SQL =>
  exists(
    db
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.id, actionsRuns.triggerActorId), eq(users.lowerName, name.toLowerCase()))),
  )

export async function findRun(db: Db, repositoryId: number, id: number): Promise<ListedRun | undefined> {
  const [row] = await selectRuns(db).where(and(eq(actionsRuns.id, id), eq(actionsRuns.repositoryId, repositoryId)))
  return row && shownRun(row)
}

/** In no order. */
export async function listRunsById(db: Db, ids: readonly number[]): Promise<ListedRun[]> {
  return (await selectRuns(db).where(anyOf(actionsRuns.id, ids))).map(shownRun)
}

// Without what is long and shown to nobody: texts of workflows, contexts, what runners get.
const { files: _files, github: _github, vars: _vars, inputs: _inputs, ...runColumns } = getTableColumns(actionsRuns)

const selectRuns = (db: Db) =>
  db
    .select({ run: runColumns, actor: users, triggerActor: triggerActors })
    .from(actionsRuns)
    .leftJoin(users, eq(users.id, actionsRuns.actorId))
    .leftJoin(triggerActors, eq(triggerActors.id, actionsRuns.triggerActorId))

const shownRun = (row: Awaited<ReturnType<typeof selectRuns>>[number]): ListedRun => ({
  run: row.run,
  actor: row.actor ?? undefined,
  triggerActor: row.triggerActor ?? undefined,
})

export interface JobFilter {
  extent: Extent
  runId?: number | undefined
  statuses?: readonly string[] | undefined
  isNewestFirst?: boolean
}

/** A job, and where it belongs. */
export interface ListedJob extends ShownJob {
  job: ShownJob['job'] & { taskId: number | null }
  run: ShownJob['run'] & { workflowFile: string }
  repository: { name: string; ownerName: string }
}

/** The oldest first, unless it is asked otherwise. @throws Refusal 400 for an unknown status */
export async function listJobs(
  context: Context,
  { extent, runId, statuses, isNewestFirst = false }: JobFilter,
  page: Page,
): Promise<Paged<ListedJob>> {
  const { db } = context
  const filter = and(inStates(actionsJobs, statuses), runId === undefined ? undefined : eq(actionsJobs.runId, runId))
  const order = isNewestFirst ? desc : asc
  const ids = idsOfPage(context, actionsJobs, { extent, filter, order, page })
  const rows = selectJobs(db).where(inArray(actionsJobs.id, ids)).orderBy(order(actionsJobs.id))
  const where = and(isWithin(context, actionsJobs, extent), filter)
  const [found, total] = await Promise.all([rows, db.$count(actionsJobs, where)])
  return numberedPage(page, { rows: found.map(listedJob), total })
}

export async function findJob(db: Db, repositoryId: number, id: number): Promise<ListedJob | undefined> {
  const [row] = await selectJobs(db).where(and(eq(actionsJobs.id, id), eq(actionsJobs.repositoryId, repositoryId)))
  return row && listedJob(row)
}

const { plan: _plan, payload: _payload, ...jobColumns } = getTableColumns(actionsJobs)

const selectJobs = (db: Db) =>
  db
    .select({
      job: jobColumns,
      run: { headSha: actionsRuns.headSha, ref: actionsRuns.ref, workflowFile: actionsRuns.workflowFile },
      task: { runnerId: actionsTasks.runnerId, runnerName: actionsTasks.runnerName, steps: actionsTasks.steps },
      repository: { name: repositories.name, ownerName: users.name },
    })
    .from(actionsJobs)
    .innerJoin(actionsRuns, eq(actionsRuns.id, actionsJobs.runId))
    .innerJoin(repositories, eq(repositories.id, actionsJobs.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .leftJoin(actionsTasks, eq(actionsTasks.id, actionsJobs.taskId))

const listedJob = ({ task, ...row }: Awaited<ReturnType<typeof selectJobs>>[number]): ListedJob => ({
  ...row,
  task: task ?? undefined,
})

const { masks: _masks, steps: _steps, outputs: _outputs, ...taskColumns } = getTableColumns(actionsTasks)

/** Attempts of runners at jobs of a repository, the newest first. */
export async function listTasks(db: Db, repositoryId: number, page: Page): Promise<Paged<ShownTask>> {
  const where = eq(actionsJobs.repositoryId, repositoryId)
  const rows = db
    .select({ task: taskColumns, jobName: actionsJobs.name, run: runColumns })
    .from(actionsTasks)
    .innerJoin(actionsJobs, eq(actionsJobs.id, actionsTasks.jobId))
    .innerJoin(actionsRuns, eq(actionsRuns.id, actionsJobs.runId))
    .where(where)
    .orderBy(desc(actionsTasks.id))
    .limit(page.limit)
    .offset(page.offset)
  // Each attempt is counted at its job.
  const count = db
    .select({ total: sql<number>`coalesce(sum(${actionsJobs.attempt}), 0)::int` })
    .from(actionsJobs)
    .where(where)
  const [found, [counted]] = await Promise.all([rows, count])
  return numberedPage(page, { rows: found, total: counted?.total ?? 0 })
}
