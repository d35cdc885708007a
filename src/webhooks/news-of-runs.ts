import { dirname } from 'node:path/posix'
import { anyOf } from '../../db/any-of.ts'
import { users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import type { StoredEvent } from '../events/catalogue.ts'
import { listDisabled } from '../features/actions-runs/store.ts'
import { isGitError } from '../git/errors.ts'
import { presentJob } from '../wire/actions-job.ts'
import { presentRun } from '../wire/actions-run.ts'
import { type ActionWorkflow, presentWorkflow } from '../wire/actions-workflow.ts'
import type { HookCommon, WorkflowJobPayload, WorkflowRunPayload } from '../wire/hook-schema.ts'
import { hookViewer, showCommon } from './common.ts'
import type { News } from './news.ts'

type RunEvent = StoredEvent<'workflow_run.requested' | 'workflow_run.in_progress' | 'workflow_run.completed'>

export async function newsOfRun(
  context: Context,
  event: RunEvent,
  action: WorkflowRunPayload['action'],
): Promise<News[]> {
  const common = await showCommon(context, event)
  if (!common) return []
  const { runId: id, runActorId, startedAt, completedAt, ...facts } = event.payload
  const people = await context.db
    .select()
    .from(users)
    .where(
      anyOf(
        users.id,
        [runActorId, event.actorId].filter((one) => one !== null),
      ),
    )
  const shown = {
    run: { id, ...facts, startedAt: readTime(startedAt), completedAt: readTime(completedAt) },
    actor: people.find((one) => one.id === runActorId),
    triggerActor: people.find((one) => one.id === event.actorId),
  }
  const payload: WorkflowRunPayload = {
    action,
    workflow: await showWorkflow(context, event, common),
    workflow_run: presentRun(shown, common.repository, hookViewer(context)),
    ...common,
  }
  return [{ event: { type: 'workflow_run', payload }, subject: `workflow_run:${id}` }]
}

/** As the run has it, wherever the file is now. */
async function showWorkflow(
  context: Context,
  { repositoryId, payload, createdAt }: RunEvent,
  { repository }: HookCommon,
): Promise<ActionWorkflow> {
  const { workflowFile: file, workflowPath: path, workflowName: name } = payload
  const disabled = repositoryId === null ? undefined : await listDisabled(context.db, repositoryId)
  const changedAt = repositoryId === null ? undefined : await changeOf(context, repositoryId, payload)
  const { url: apiUrl, html_url: htmlUrl, default_branch: defaultBranch } = repository
  return presentWorkflow(
    { file, path, name, isDisabled: disabled?.has(file) ?? false, changedAt: changedAt ?? createdAt },
    { apiUrl, htmlUrl, repository: { defaultBranch } },
  )
}

/** When the commit was made that changed the file last. Undefined where the repository, or the commit of the run, is gone. */
async function changeOf(
  { git }: Context,
  repositoryId: number,
  { headSha, workflowPath, workflowFile }: RunEvent['payload'],
): Promise<Date | undefined> {
  const option = { revision: headSha, folder: dirname(workflowPath), names: [workflowFile] }
  try {
    const changes = await git.lastCommits(repositoryId, option)
    const { committer } = await git.readCommit(repositoryId, changes.get(workflowFile) ?? headSha)
    return committer.date
  } catch (error) {
    if (isGitError(error, 'not-found')) return undefined
    throw error
  }
}

type JobEvent = StoredEvent<
  'workflow_job.waiting' | 'workflow_job.queued' | 'workflow_job.in_progress' | 'workflow_job.completed'
>

export async function newsOfJob(
  context: Context,
  event: JobEvent,
  action: WorkflowJobPayload['action'],
): Promise<News[]> {
  const common = await showCommon(context, event)
  if (!common) return []
  const { jobId: id, ref, headSha, runner, ...facts } = event.payload
  const job = {
    id,
    ...facts,
    createdAt: new Date(facts.createdAt),
    startedAt: readTime(facts.startedAt),
    completedAt: readTime(facts.completedAt),
  }
  const { url: apiUrl, html_url: htmlUrl } = common.repository
  const payload: WorkflowJobPayload = {
    action,
    workflow_job: presentJob({ job, run: { ref, headSha }, task: runner }, { apiUrl, htmlUrl }),
    ...common,
  }
  return [{ event: { type: 'workflow_job', payload }, subject: `workflow_job:${id}` }]
}

const readTime = (at: string | null): Date | null => (at === null ? null : new Date(at))
