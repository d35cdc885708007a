import { t } from 'elysia'
import type { ActionsJobRow, ActionsRunRow, ActionsStep, ActionsTaskRow } from '../../db/schema/actions.ts'
import { EPOCH_TIME, wireTime, wireTimeOr } from '../kernel/time.ts'
import { conclusionField, shortRef, statusWord } from './actions-run.ts'
import { int64 } from './fields.ts'

const ActionWorkflowStep = t.Object(
  {
    name: t.String(),
    number: int64({ description: 'Its place in the job, from 0' }),
    status: t.String(),
    conclusion: t.Optional(t.String()),
    started_at: t.String({ format: 'date-time' }),
    completed_at: t.String({ format: 'date-time' }),
  },
  { $id: 'ActionWorkflowStep' },
)

export type ActionWorkflowJob = typeof ActionWorkflowJob.static
export const ActionWorkflowJob = t.Object(
  {
    id: int64(),
    url: t.String(),
    html_url: t.String(),
    run_id: int64(),
    run_url: t.String(),
    name: t.String(),
    labels: t.Array(t.String(), { description: 'What a runner must have to take it' }),
    run_attempt: int64({ description: 'How often a runner has taken it' }),
    head_sha: t.String(),
    head_branch: t.String(),
    status: t.String({ description: '`waiting`, `queued`, `in_progress` or `completed`' }),
    conclusion: t.Optional(t.String()),
    runner_id: t.Optional(int64()),
    runner_name: t.Optional(t.String()),
    steps: t.Array(ActionWorkflowStep),
    created_at: t.String({ format: 'date-time' }),
    started_at: t.String({ format: 'date-time' }),
    completed_at: t.String({ format: 'date-time' }),
  },
  { $id: 'ActionWorkflowJob' },
)

export const ActionWorkflowJobsResponse = t.Object(
  { jobs: t.Array(ActionWorkflowJob), total_count: int64() },
  { $id: 'ActionWorkflowJobsResponse' },
)

type ShownStep = Pick<ActionsStep, 'name' | 'startedAt' | 'completedAt'> & { status: string; conclusion: string | null }

export interface ShownJob {
  job: Pick<
    ActionsJobRow,
    'id' | 'runId' | 'name' | 'labels' | 'attempt' | 'createdAt' | 'startedAt' | 'completedAt'
  > & { status: string; conclusion: string | null }
  run: Pick<ActionsRunRow, 'headSha' | 'ref'>
  /** Undefined before a runner has it. */
  task: (Pick<ActionsTaskRow, 'runnerId' | 'runnerName'> & { steps: readonly ShownStep[] }) | undefined
}

export const presentJob = (
  { job, run, task }: ShownJob,
  { apiUrl, htmlUrl }: { apiUrl: string; htmlUrl: string },
): ActionWorkflowJob => ({
  id: job.id,
  url: `${apiUrl}/actions/jobs/${job.id}`,
  html_url: `${htmlUrl}/actions/runs/${job.runId}/jobs/${job.id}`,
  run_id: job.runId,
  run_url: `${apiUrl}/actions/runs/${job.runId}`,
  name: job.name,
  labels: job.labels,
  run_attempt: job.attempt,
  head_sha: run.headSha,
  head_branch: shortRef(run.ref),
  status: statusWord(job.status),
  ...conclusionField(job.conclusion),
  ...(task && { runner_id: task.runnerId, runner_name: task.runnerName }),
  steps: (task?.steps ?? []).map(presentStep),
  created_at: wireTime(job.createdAt),
  started_at: wireTimeOr(job.startedAt, EPOCH_TIME),
  completed_at: wireTimeOr(job.completedAt, EPOCH_TIME),
})

const presentStep = ({ name, status, conclusion, startedAt, completedAt }: ShownStep, number: number) => ({
  name,
  number,
  status: statusWord(status),
  ...conclusionField(conclusion),
  started_at: stepTime(startedAt),
  completed_at: stepTime(completedAt),
})

const stepTime = (at: string | null): string => wireTimeOr(at === null ? null : new Date(at), EPOCH_TIME)
