import type { IssueRow } from '../../../db/schema/issues.ts'
import { deadlineHistory } from './deadline.ts'
import type { HistoryEntry } from './history.ts'

/** What happened to an issue between two states of its row. */
export const rowHistory = (before: IssueRow, after: IssueRow): HistoryEntry[] => [
  ...(before.title === after.title
    ? []
    : [{ kind: 'change_title', oldTitle: before.title, newTitle: after.title } as const]),
  ...deadlineHistory(before.dueAt, after.dueAt),
  ...milestoneHistory(before.milestoneId, after.milestoneId),
]

export const milestoneHistory = (oldMilestoneId: number | null, milestoneId: number | null): HistoryEntry[] =>
  oldMilestoneId === milestoneId ? [] : [{ kind: 'milestone', oldMilestoneId, milestoneId }]

export const assigneeHistory = (ids: readonly number[], isUnassigned: boolean): HistoryEntry[] =>
  ids.map((assigneeId) => ({ kind: 'assignees', assigneeId, isUnassigned }))
