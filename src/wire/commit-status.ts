import { t } from 'elysia'
import { type CommitStatusRow, type StatusState, statusStates } from '../../db/schema/statuses.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'
import { Repository } from './repository.ts'
import { presentGhost, presentUserToVisitors, User } from './user.ts'
import type { Viewer } from './viewer.ts'

const state = () => t.String({ description: statusStates.join(', ') })

export type CommitStatus = typeof CommitStatus.static
export const CommitStatus = t.Object(
  {
    id: int64(),
    status: state(),
    target_url: t.String(),
    description: t.String(),
    url: t.String(),
    context: t.String(),
    creator: User,
    created_at: t.String({ format: 'date-time' }),
    updated_at: t.String({ format: 'date-time' }),
  },
  { $id: 'CommitStatus' },
)

export type CombinedStatus = typeof CombinedStatus.static
export const CombinedStatus = t.Object(
  {
    state: state(),
    sha: t.String(),
    total_count: int64(),
    statuses: t.Array(CommitStatus),
    repository: Repository,
    commit_url: t.String(),
    url: t.String(),
  },
  { $id: 'CombinedStatus' },
)

export interface ShownStatus {
  status: CommitStatusRow
  creator: UserRow | undefined
}

export const presentStatus = ({ status, creator }: ShownStatus, apiUrl: string, viewer: Viewer): CommitStatus => ({
  id: status.id,
  status: status.state,
  target_url: status.targetUrl,
  description: status.description,
  url: `${apiUrl}/statuses/${status.sha}`,
  context: status.context,
  creator: creator ? presentUserToVisitors(creator, viewer) : presentGhost(viewer),
  created_at: wireTime(status.createdAt),
  // A status never changes: a newer one replaces it.
  updated_at: wireTime(status.createdAt),
})

/** Wire: a warning is a failure, and what was skipped is no reason to wait. */
export function combineStates(states: readonly StatusState[]): StatusState {
  if (states.some((one) => one === 'error' || one === 'failure' || one === 'warning')) return 'failure'
  return states.length === 0 || states.includes('pending') ? 'pending' : 'success'
}
