import { t } from 'elysia'
import type { MilestoneRow } from '../../db/schema/issues.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'

const timeOrNull = () => t.Nullable(t.String({ format: 'date-time' }))

export type Milestone = typeof Milestone.static
export const Milestone = t.Object(
  {
    id: int64(),
    title: t.String(),
    description: t.String(),
    state: t.Union([t.Literal('open'), t.Literal('closed')]),
    open_issues: int64(),
    closed_issues: int64(),
    created_at: t.String({ format: 'date-time' }),
    updated_at: timeOrNull(),
    closed_at: timeOrNull(),
    due_on: timeOrNull(),
  },
  { $id: 'Milestone' },
)

export function presentMilestone(milestone: MilestoneRow): Milestone {
  return {
    id: milestone.id,
    title: milestone.title,
    description: milestone.description,
    state: milestone.isClosed ? 'closed' : 'open',
    open_issues: milestone.openIssuesCount,
    closed_issues: milestone.closedIssuesCount,
    created_at: wireTime(milestone.createdAt),
    updated_at: wireTime(milestone.updatedAt),
    closed_at: milestone.closedAt && wireTime(milestone.closedAt),
    due_on: milestone.dueAt && wireTime(milestone.dueAt),
  }
}
