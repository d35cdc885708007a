import { and, asc, desc, eq, exists, or, type SQL, sql } from 'drizzle-orm'
import { alias, type PgColumn } from 'drizzle-orm/pg-core'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import {
  actionsConclusions,
  actionsJobs,
  actionsRuns,
  actionsStatuses,
  actionsTasks,
} from '../../../db/schema/actions.ts'
import { users } from '../../../db/schema/users.ts'
import { badRequest } from '../../kernel/errors.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'
import type { ShownJob } from '../../wire/actions-job.ts'
import type { ShownRun } from '../../wire/actions-run.ts'

const triggerActors = alias(users, 'trigger_actors')

export interface RunFilter {
  repositoryId: number
  statuses?: readonly string[] | undefined
  event?: string | undefined
  /** Short. */
  branch?: string | undefined
  /** The name of who caused it. */
  actor?: string | undefined
  headSha?: string | undefined
}

/** The newest first. @throws Refusal 400 for an unknown status */
export async function listRuns(db: Db, filter: RunFilter, page: Page): Promise<Paged<ShownRun>> {
  const where = and(
    eq(actionsRuns.repositoryId, filter.repositoryId),
    inStates(actionsRuns, filter.statuses),
    filter.event === undefined ? undefined : eq(actionsRuns.event, filter.event),
    filter.branch === undefined ? undefined : eq(actionsRuns.ref, `refs/heads/${filter.branch}`),
    filter.headSha === undefined ? undefined : eq(actionsRuns.headSha, filter.headSha),
    filter.actor === undefined ? undefined : causedBy(db, filter.actor),
  )
  const rows = selectRuns(db).where(where).orderBy(desc(actionsRuns.id)).limit(page.limit).offset(page.offset)
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

export async function findRun(db: Db, repositoryId: number, id: number): Promise<ShownRun | undefined> {
  const [row] = await selectRuns(db).where(and(eq(actionsRuns.id, id), eq(actionsRuns.repositoryId, repositoryId)))
  return row && shownRun(row)
}

const selectRuns = (db: Db) =>
  db
    .select({ run: actionsRuns, actor: users, triggerActor: triggerActors })
    .from(actionsRuns)
    .leftJoin(users, eq(users.id, actionsRuns.actorId))
    .leftJoin(triggerActors, eq(triggerActors.id, actionsRuns.triggerActorId))

const shownRun = (row: Awaited<ReturnType<typeof selectRuns>>[number]): ShownRun => ({
  run: row.run,
  actor: row.actor ?? undefined,
  triggerActor: row.triggerActor ?? undefined,
})

export interface JobFilter {
  repositoryId: number
  runId?: number | undefined
  statuses?: readonly string[] | undefined
  isNewestFirst?: boolean
}

/** The oldest first, unless it is asked otherwise. @throws Refusal 400 for an unknown status */
export async function listJobs(
  db: Db,
  { repositoryId, runId, statuses, isNewestFirst = false }: JobFilter,
  page: Page,
): Promise<Paged<ShownJob>> {
  const where = and(
    eq(actionsJobs.repositoryId, repositoryId),
    inStates(actionsJobs, statuses),
    runId === undefined ? undefined : eq(actionsJobs.runId, runId),
  )
  const order = isNewestFirst ? desc(actionsJobs.id) : asc(actionsJobs.id)
  const rows = selectJobs(db).where(where).orderBy(order).limit(page.limit).offset(page.offset)
  const [found, total] = await Promise.all([rows, db.$count(actionsJobs, where)])
  return numberedPage(page, { rows: found.map(shownJob), total })
}

export async function findJob(
  db: Db,
  repositoryId: number,
  id: number,
): Promise<(ShownJob & { workflowFile: string }) | undefined> {
  const [row] = await selectJobs(db).where(and(eq(actionsJobs.id, id), eq(actionsJobs.repositoryId, repositoryId)))
  return row && { ...shownJob(row), workflowFile: row.run.workflowFile }
}

const selectJobs = (db: Db) =>
  db
    .select({
      job: actionsJobs,
      run: { headSha: actionsRuns.headSha, ref: actionsRuns.ref, workflowFile: actionsRuns.workflowFile },
      task: actionsTasks,
    })
    .from(actionsJobs)
    .innerJoin(actionsRuns, eq(actionsRuns.id, actionsJobs.runId))
    .leftJoin(actionsTasks, eq(actionsTasks.id, actionsJobs.taskId))

const shownJob = ({ task, ...row }: Awaited<ReturnType<typeof selectJobs>>[number]): ShownJob => ({
  ...row,
  task: task ?? undefined,
})

interface StateColumns {
  status: PgColumn
  conclusion: PgColumn
}

/** Wire: a word is a status or a conclusion, and any of several counts. `waiting` and `pending` are both what is blocked. */
function inStates({ status, conclusion }: StateColumns, words: readonly string[] | undefined): SQL | undefined {
  if (!words || words.length === 0) return undefined
  const meant = words.map((word) => (word === 'waiting' || word === 'pending' ? 'blocked' : word))
  const isKnown = (word: string) => [...actionsStatuses, ...actionsConclusions].some((one) => one === word)
  const unknown = words.find((word, index) => word === 'blocked' || !isKnown(meant[index] ?? ''))
  if (unknown !== undefined) throw badRequest(`Invalid status ${unknown}`)
  return or(anyOf(status, meant), sql`coalesce(${anyOf(conclusion, meant)}, false)`)
}
