import { and, eq } from 'drizzle-orm'
import { actionsRuns } from '../../../db/schema/actions.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { findJob, findRun, type ListedRun } from './lists.ts'
import { findTaskId } from './tasks.ts'

export const unknownRun = (id: number) => notFound('not found', [`run with id ${id}: resource does not exist`])

/** @throws Refusal 404, also for a run of another repository */
export async function getRun({ db }: Context, { repository }: RepositoryAccess, text: string): Promise<ListedRun> {
  const id = parseId(text)
  const run = id === undefined ? undefined : await findRun(db, repository.id, id)
  if (!run) throw unknownRun(id ?? 0)
  return run
}

/** @throws Refusal 404, also for a job of another repository */
export async function getJob({ db }: Context, { repository }: RepositoryAccess, text: string) {
  const id = parseId(text)
  const job = id === undefined ? undefined : await findJob(db, repository.id, id)
  if (!job) throw notFound('not found', ['resource does not exist'])
  return job
}

/**
 * The task whose log a job shows: of the attempt that its state is of, or of the one that is asked for.
 * @throws Refusal 404, also while no runner has the job
 */
export async function getLoggedJob({ db }: Context, { repository }: RepositoryAccess, { text, attempt }: AskedLog) {
  const id = parseId(text)
  const job = id === undefined ? undefined : await findJob(db, repository.id, id)
  const taskId = job && (attempt === undefined ? job.job.taskId : await findTaskId(db, job.job.id, attempt))
  if (!job || !taskId) throw notFound('not found', [`run job with id ${id ?? 0}: resource does not exist`])
  return { ...job, taskId }
}

interface AskedLog {
  /** The id of the job, as it was sent. */
  text: string
  attempt: number | undefined
}

/** Jobs and logs go with it. @throws Refusal 400 while it is not done, 404 */
export async function deleteRun(
  context: Context,
  { actor, repo }: { actor: Actor; repo: RepositoryAccess },
  text: string,
): Promise<void> {
  const { run } = await getRun(context, repo, text)
  await context.db.transaction(async (tx) => {
    const [gone] = await tx
      .delete(actionsRuns)
      .where(and(eq(actionsRuns.id, run.id), eq(actionsRuns.status, 'completed')))
      .returning()
    if (!gone) throw badRequest('this workflow run is not done')
    await recordAudit(tx, actor, {
      action: 'actions_run.delete',
      subject: { kind: 'actions_run', id: gone.id, name: gone.title },
      before: { repositoryId: gone.repositoryId, number: gone.number, workflowFile: gone.workflowFile },
    })
  })
}
