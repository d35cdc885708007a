import type { Db } from '../../../db/client.ts'
import { comments } from '../../../db/schema/issues.ts'

/** What happened to an issue, in the words of the Gitea API; `body` is what the API shows for the kind. */
export interface HistoryEntry {
  kind:
    | 'close'
    | 'reopen'
    | 'change_title'
    | 'milestone'
    | 'assignees'
    /** Body `1`: the label came; empty: it went. */
    | 'label'
    | 'add_dependency'
    | 'remove_dependency'
    /** Body: the reason. */
    | 'lock'
    | 'unlock'
    | 'pin'
    | 'unpin'
    /** Body: a day, as `2030-01-31`; of `modified_deadline` the new and the old one, as `2030-02-01|2030-01-31`. */
    | 'added_deadline'
    | 'modified_deadline'
    | 'removed_deadline'
    | 'start_tracking'
    | 'cancel_tracking'
    /** Body, of these three: the seconds. */
    | 'stop_tracking'
    | 'add_time_manual'
    | 'delete_time_manual'
  body?: string
  labelId?: number
  /** The other issue of a dependency. */
  dependentIssueId?: number
  /** The commit that closed or opened the issue, and where it lies. */
  refRepositoryId?: number
  refCommitSha?: string
  oldTitle?: string
  newTitle?: string
  /** Null: none. */
  oldMilestoneId?: number | null
  milestoneId?: number | null
  assigneeId?: number
  isUnassigned?: boolean
}

/** Writes what happened to the issue's history, in this order. Returns the ids of the rows. */
export async function recordHistory(
  tx: Db,
  { issueId, posterId }: { issueId: number; posterId: number },
  entries: readonly HistoryEntry[],
): Promise<number[]> {
  if (entries.length === 0) return []
  const rows = await tx
    .insert(comments)
    .values(entries.map((entry) => ({ issueId, posterId, ...entry })))
    .returning({ id: comments.id })
  return rows.map(({ id }) => id)
}
