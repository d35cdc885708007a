import { t } from 'elysia'
import type { ActionsArtifactRow } from '../../db/schema/actions-artifacts.ts'
import { wireTime } from '../kernel/time.ts'
import { ActionWorkflowRun } from './actions-run.ts'
import { int64 } from './fields.ts'

export type ActionArtifact = typeof ActionArtifact.static
export const ActionArtifact = t.Object(
  {
    id: int64(),
    name: t.String(),
    size_in_bytes: int64({ description: 'Of the archive, also once it has expired' }),
    url: t.String(),
    archive_download_url: t.String({ description: 'Leads to the archive, for readers of the repository' }),
    expired: t.Boolean({ description: 'Its bytes are gone' }),
    created_at: t.String({ format: 'date-time' }),
    updated_at: t.String({ format: 'date-time' }),
    expires_at: t.String({ format: 'date-time' }),
    workflow_run: ActionWorkflowRun,
  },
  { $id: 'ActionArtifact' },
)

export const ActionArtifactsResponse = t.Object(
  { artifacts: t.Array(ActionArtifact, { description: 'Of this page' }), total_count: int64() },
  { $id: 'ActionArtifactsResponse' },
)

/** @param run with the address of its repository */
export function presentArtifact(
  { id, name, sizeBytes, state, createdAt, updatedAt, expiresAt, repositoryId }: ActionsArtifactRow,
  run: ActionWorkflowRun,
): ActionArtifact {
  const url = `${run.repository.url}/actions/artifacts/${id}`
  return {
    id,
    name,
    size_in_bytes: sizeBytes ?? 0,
    url,
    archive_download_url: `${url}/zip`,
    expired: state === 'expired',
    created_at: wireTime(createdAt),
    updated_at: wireTime(updatedAt),
    expires_at: wireTime(expiresAt),
    // Wire: here a run says by a number where it belongs.
    workflow_run: { ...run, repository_id: repositoryId },
  }
}
