import { t } from 'elysia'
import type { ActionsRunRow } from '../../db/schema/actions.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { EPOCH_TIME, wireTimeOr } from '../kernel/time.ts'
import { int64 } from './fields.ts'
import { Repository } from './repository.ts'
import { presentGhost, presentUserToVisitors, User } from './user.ts'
import type { Viewer } from './viewer.ts'

export type ActionWorkflowRun = typeof ActionWorkflowRun.static
export const ActionWorkflowRun = t.Object(
  {
    id: int64(),
    url: t.String(),
    html_url: t.String(),
    display_title: t.String(),
    path: t.String({ description: 'The file of the workflow and the ref, such as `ci.yml@refs/heads/main`' }),
    event: t.String(),
    run_attempt: int64({ description: 'Always 0: attempts are counted for each job' }),
    run_number: int64({ description: 'Counted from 1 in each repository' }),
    head_sha: t.String(),
    head_branch: t.String(),
    status: t.String({ description: '`waiting`, `queued`, `in_progress` or `completed`' }),
    conclusion: t.Optional(t.String({ description: '`success`, `failure`, `cancelled` or `skipped`, once completed' })),
    actor: User,
    trigger_actor: User,
    repository: Repository,
    repository_id: t.Optional(int64({ description: 'Of the run of an artifact only' })),
    started_at: t.String({ format: 'date-time' }),
    completed_at: t.String({ format: 'date-time' }),
  },
  { $id: 'ActionWorkflowRun' },
)

export const ActionWorkflowRunsResponse = t.Object(
  { workflow_runs: t.Array(ActionWorkflowRun), total_count: int64() },
  { $id: 'ActionWorkflowRunsResponse' },
)

export interface ShownRun {
  run: Pick<
    ActionsRunRow,
    'id' | 'number' | 'title' | 'workflowFile' | 'event' | 'ref' | 'headSha' | 'startedAt' | 'completedAt'
  > & { status: string; conclusion: string | null }
  actor: UserRow | undefined
  triggerActor: UserRow | undefined
}

/** Wire: what is blocked waits. */
export const statusWord = (status: string): string => (status === 'blocked' ? 'waiting' : status)

export const conclusionField = (conclusion: string | null) => (conclusion === null ? {} : { conclusion })

/** Wire: without the heads of refs. */
export const shortRef = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, '')

/** @param repository as visitors see it */
export const presentRun = (
  { run, actor, triggerActor }: ShownRun,
  repository: Repository,
  viewer: Viewer,
): ActionWorkflowRun => {
  const person = (user: UserRow | undefined) => (user ? presentUserToVisitors(user, viewer) : presentGhost(viewer))
  return {
    id: run.id,
    url: `${repository.url}/actions/runs/${run.id}`,
    html_url: `${repository.html_url}/actions/runs/${run.id}`,
    display_title: run.title,
    path: `${run.workflowFile}@${run.ref}`,
    event: run.event,
    run_attempt: 0,
    run_number: run.number,
    head_sha: run.headSha,
    head_branch: shortRef(run.ref),
    status: statusWord(run.status),
    ...conclusionField(run.conclusion),
    actor: person(actor),
    trigger_actor: person(triggerActor),
    // Wire: it tells of nobody's rights.
    repository: { ...repository, permissions: { admin: false, push: false, pull: false } },
    started_at: wireTimeOr(run.startedAt, EPOCH_TIME),
    completed_at: wireTimeOr(run.completedAt, EPOCH_TIME),
  }
}
