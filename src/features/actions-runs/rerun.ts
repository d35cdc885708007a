import type { ActionsJobRow } from '../../../db/schema/actions.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { followersOf } from '../../actions/workflows/followers.ts'
import type { WorkflowFamily } from '../../actions/workflows/plan-model.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { badRequest, invalid, notFound } from '../../kernel/errors.ts'
import { placeOf } from './place.ts'
import { readRunFamily } from './run-family.ts'
import { getJob, getRun, unknownRun } from './service.ts'
import { listDisabled, listRunJobs, loadRun, lockRun } from './store.ts'
import { resetJobs, restartRun } from './transitions.ts'

interface Change {
  actor: Actor
  repo: RepositoryAccess
}

/** All jobs again, in another attempt. @throws Refusal 400 while it is not done or its workflow is disabled, 404, 422 */
export const rerunAll = (context: Context, change: Change, run: string): Promise<void> =>
  rerun(context, change, run, () => 'all')

/** The jobs that failed or were cancelled, and what depends on them. @throws Refusal 400 also where none has, 404, 422 */
export const rerunFailed = (context: Context, change: Change, run: string): Promise<void> =>
  rerun(context, change, run, (jobs) => {
    const failed = jobs.filter(({ conclusion }) => conclusion === 'failure' || conclusion === 'cancelled')
    if (failed.length === 0) throw badRequest('this workflow run has no failed jobs')
    return failed
  })

/** One job, and what depends on it. @throws Refusal 400, 404 also for a job of another run, 422 */
export async function rerunJob(context: Context, change: Change, run: string, text: string): Promise<void> {
  const { job } = await getJob(context, change.repo, text)
  await rerun(context, change, run, (jobs) => {
    const found = jobs.find(({ id }) => id === job.id)
    if (!found) throw notFound('not found', ['resource does not exist'])
    return [found]
  })
}

/** What is chosen of the jobs runs again; what the others have made stays, and is there for those that need it. */
type Choose = (jobs: readonly ActionsJobRow[]) => readonly ActionsJobRow[] | 'all'

async function rerun(context: Context, { actor, repo }: Change, text: string, choose: Choose): Promise<void> {
  const { db, clock } = context
  const { id } = (await getRun(context, repo, text)).run
  const run = (await loadRun(db, id))?.run
  if (!run) throw unknownRun(id)
  const isDisabled = (await listDisabled(db, run.repositoryId)).has(run.workflowFile)
  if (isDisabled) throw badRequest(`workflow ${run.workflowFile} is disabled`)
  const { family, error } = await readRunFamily(context, run)
  if (!family) throw invalid(`this workflow run cannot run again: ${run.error ?? error}`)
  await db.transaction(async (tx) => {
    const locked = await lockRun(tx, run.id)
    if (!locked) throw unknownRun(id)
    if (locked.status !== 'completed') throw badRequest('this workflow run is not done')
    const place = placeOf(context, { ...repo, run: { ...locked, triggerActorId: actor.user.id } })
    const at = { tx, place, now: clock.now() }
    const jobs = await listRunJobs(tx, run.id)
    await resetJobs(at, idsAgain(family, jobs, choose(jobs)), locked.attempt + 1)
    await restartRun(at, locked, actor.user)
    await recordAudit(tx, actor, {
      action: 'actions_run.rerun',
      subject: { kind: 'actions_run', id: run.id, name: run.title },
      after: { repositoryId: run.repositoryId, number: run.number, attempt: locked.attempt + 1 },
    })
  })
}

function idsAgain(
  family: WorkflowFamily,
  jobs: readonly ActionsJobRow[],
  chosen: readonly ActionsJobRow[] | 'all',
): number[] {
  if (chosen === 'all') return jobs.map(({ id }) => id)
  const keys = followersOf(
    family,
    jobs.map(({ key }) => key),
    chosen.map(({ key }) => key),
  )
  return jobs.filter(({ key }) => keys.has(key)).map(({ id }) => id)
}
