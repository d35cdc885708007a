import { t } from 'elysia'
import type { ActionsRunRow, ActionsTaskRow } from '../../db/schema/actions.ts'
import { wireTime } from '../kernel/time.ts'
import { shortRef } from './actions-run.ts'
import { int64 } from './fields.ts'

export type ActionTask = typeof ActionTask.static
export const ActionTask = t.Object(
  {
    id: int64(),
    name: t.String({ description: 'Of the job' }),
    head_branch: t.String(),
    head_sha: t.String(),
    run_number: int64({ description: 'Of the run: counted from 1 in each repository' }),
    event: t.String(),
    display_title: t.String(),
    status: t.String({ description: '`running`, or what it ended with' }),
    workflow_id: t.String({ description: 'The file of the workflow' }),
    url: t.String({ description: 'The page of the run' }),
    created_at: t.String({ format: 'date-time' }),
    updated_at: t.String({ format: 'date-time' }),
    run_started_at: t.String({ format: 'date-time' }),
  },
  { $id: 'ActionTask' },
)

/** Wire: tasks are called runs here. */
export const ActionTaskResponse = t.Object(
  { workflow_runs: t.Array(ActionTask), total_count: int64() },
  { $id: 'ActionTaskResponse' },
)

export interface ShownTask {
  task: Pick<ActionsTaskRow, 'id' | 'conclusion' | 'startedAt' | 'completedAt' | 'lastSeenAt'>
  jobName: string
  run: Pick<ActionsRunRow, 'id' | 'number' | 'title' | 'workflowFile' | 'event' | 'ref' | 'headSha'>
}

export const presentTask = ({ task, jobName, run }: ShownTask, { htmlUrl }: { htmlUrl: string }): ActionTask => ({
  id: task.id,
  name: jobName,
  head_branch: shortRef(run.ref),
  head_sha: run.headSha,
  run_number: run.number,
  event: run.event,
  display_title: run.title,
  status: task.conclusion ?? 'running',
  workflow_id: run.workflowFile,
  url: `${htmlUrl}/actions/runs/${run.id}`,
  created_at: wireTime(task.startedAt),
  updated_at: wireTime(task.completedAt ?? task.lastSeenAt),
  run_started_at: wireTime(task.startedAt),
})
