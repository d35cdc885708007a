import { t } from 'elysia'
import { wireTime, ZERO_TIME } from '../kernel/time.ts'
import { int64 } from './fields.ts'

export type ActionWorkflow = typeof ActionWorkflow.static
export const ActionWorkflow = t.Object(
  {
    id: t.String({ description: 'The name of its file' }),
    name: t.String({ description: 'As the file says, or else its name' }),
    path: t.String(),
    state: t.String({ description: '`active` or `disabled_manually`' }),
    created_at: t.String({ format: 'date-time', description: 'Of the commit that changed the file last' }),
    updated_at: t.String({ format: 'date-time', description: 'The same' }),
    url: t.String(),
    html_url: t.String(),
    badge_url: t.String(),
    deleted_at: t.String({ format: 'date-time', description: 'Always the zero time: what is gone is not listed' }),
  },
  { $id: 'ActionWorkflow' },
)

export const ActionWorkflowResponse = t.Object(
  { workflows: t.Array(ActionWorkflow), total_count: int64() },
  { $id: 'ActionWorkflowResponse' },
)

export type RunDetails = typeof RunDetails.static
export const RunDetails = t.Object(
  { workflow_run_id: int64(), run_url: t.String(), html_url: t.String() },
  { $id: 'RunDetails' },
)

export interface ShownWorkflow {
  /** The name of the file. */
  file: string
  path: string
  name: string
  isDisabled: boolean
  changedAt: Date
}

interface Place {
  apiUrl: string
  htmlUrl: string
  repository: { defaultBranch: string }
}

export function presentWorkflow(
  { file, path, name, isDisabled, changedAt }: ShownWorkflow,
  { apiUrl, htmlUrl, repository }: Place,
): ActionWorkflow {
  const encoded = encodeURIComponent(file)
  const branch = repository.defaultBranch
  return {
    id: file,
    name,
    path,
    state: isDisabled ? 'disabled_manually' : 'active',
    // Wire: both are the same time.
    created_at: wireTime(changedAt),
    updated_at: wireTime(changedAt),
    url: `${apiUrl}/actions/workflows/${encoded}`,
    html_url: `${htmlUrl}/src/branch/${encodePath(branch)}/${encodePath(path)}`,
    badge_url: `${htmlUrl}/actions/workflows/${encoded}/badge.svg?branch=${encodeURIComponent(branch)}`,
    deleted_at: ZERO_TIME,
  }
}

const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

export const presentRunDetails = (id: number, { apiUrl, htmlUrl }: Omit<Place, 'repository'>): RunDetails => ({
  workflow_run_id: id,
  run_url: `${apiUrl}/actions/runs/${id}`,
  html_url: `${htmlUrl}/actions/runs/${id}`,
})
