import { t } from 'elysia'
import type { IssueRow, LabelRow, MilestoneRow } from '../../db/schema/issues.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { wireTime } from '../kernel/time.ts'
import { Attachment, presentAttachment, type ShownAttachment } from './attachment.ts'
import { int64 } from './fields.ts'
import { Label, presentIssueLabel } from './label.ts'
import { Milestone, presentMilestone } from './milestone.ts'
import { presentAuthor, presentUserToVisitors, User } from './user.ts'
import type { Viewer } from './viewer.ts'

export const RepositoryMeta = t.Object(
  { id: int64(), name: t.String(), owner: t.String(), full_name: t.String() },
  { $id: 'RepositoryMeta' },
)

export const PullRequestMeta = t.Object(
  {
    merged: t.Boolean(),
    merged_at: t.Nullable(t.String({ format: 'date-time' })),
    draft: t.Boolean(),
    html_url: t.String(),
  },
  { $id: 'PullRequestMeta' },
)

const timeOrNull = () => t.Nullable(t.String({ format: 'date-time' }))

export type Issue = typeof Issue.static
export const Issue = t.Object(
  {
    id: int64(),
    url: t.String(),
    html_url: t.String(),
    number: int64(),
    user: User,
    original_author: t.String({ description: 'Who wrote it on the server that it was migrated from' }),
    original_author_id: int64(),
    title: t.String(),
    body: t.String(),
    ref: t.String(),
    assets: t.Array(Attachment),
    labels: t.Array(Label),
    milestone: t.Nullable(Milestone),
    assignee: t.Nullable(User),
    assignees: t.Nullable(t.Array(User)),
    state: t.Union([t.Literal('open'), t.Literal('closed')]),
    is_locked: t.Boolean(),
    comments: int64(),
    created_at: t.String({ format: 'date-time' }),
    updated_at: t.String({ format: 'date-time' }),
    closed_at: timeOrNull(),
    due_date: timeOrNull(),
    time_estimate: int64({ description: 'Seconds' }),
    pull_request: t.Nullable(PullRequestMeta),
    repository: RepositoryMeta,
    pin_order: int64(),
    content_version: int64(),
  },
  { $id: 'Issue' },
)

export interface ShownIssue {
  issue: IssueRow
  poster: UserRow | undefined
  assignees: UserRow[]
  labels: LabelRow[]
  milestone: MilestoneRow | undefined
  assets: readonly ShownAttachment[]
}

interface Place {
  id: number
  name: string
  ownerName: string
  apiUrl: string
  htmlUrl: string
}

export function presentIssue(shown: ShownIssue, place: Place, viewer: Viewer): Issue {
  const { issue, poster, labels, milestone } = shown
  // Wire: assignees are shown as visitors see them, whoever looks; without any the list is null.
  const assignees = shown.assignees.map((user) => presentUserToVisitors(user, viewer))
  return {
    id: issue.id,
    url: `${place.apiUrl}/issues/${issue.number}`,
    html_url: `${place.htmlUrl}/${issue.isPull ? 'pulls' : 'issues'}/${issue.number}`,
    number: issue.number,
    user: presentAuthor(poster, viewer),
    original_author: issue.originalAuthor,
    original_author_id: issue.originalAuthorId,
    title: issue.title,
    body: issue.body,
    ref: issue.ref,
    assets: shown.assets.map((asset) => presentAttachment(asset, viewer)),
    labels: labels.map((label) => presentIssueLabel(label, place, viewer)),
    milestone: milestone ? presentMilestone(milestone) : null,
    assignee: assignees[0] ?? null,
    assignees: assignees.length > 0 ? assignees : null,
    state: issue.isClosed ? 'closed' : 'open',
    is_locked: issue.isLocked,
    comments: issue.commentsCount,
    created_at: wireTime(issue.createdAt),
    updated_at: wireTime(issue.updatedAt),
    closed_at: issue.closedAt && wireTime(issue.closedAt),
    due_date: issue.dueAt && wireTime(issue.dueAt),
    time_estimate: issue.timeEstimateSeconds,
    pull_request: null,
    repository: {
      id: place.id,
      name: place.name,
      owner: place.ownerName,
      full_name: `${place.ownerName}/${place.name}`,
    },
    pin_order: issue.pinOrder,
    content_version: issue.contentVersion,
  }
}
