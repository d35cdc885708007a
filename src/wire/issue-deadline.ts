import { t } from 'elysia'
import { wireTime } from '../kernel/time.ts'

export type IssueDeadline = typeof IssueDeadline.static
export const IssueDeadline = t.Object(
  { due_date: t.Nullable(t.String({ format: 'date-time' })) },
  { $id: 'IssueDeadline' },
)

export const presentDeadline = (dueAt: Date | null): IssueDeadline => ({ due_date: dueAt && wireTime(dueAt) })
