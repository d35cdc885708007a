import { t } from 'elysia'
import type { CommentRow, LabelRow, MilestoneRow } from '../../db/schema/issues.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { escapeHtml } from '../kernel/html.ts'
import { wireTime } from '../kernel/time.ts'
import { Comment, commentAddresses } from './comment.ts'
import { int64 } from './fields.ts'
import { Issue } from './issue.ts'
import { Label, presentIssueLabel } from './label.ts'
import { Milestone, presentMilestone } from './milestone.ts'
import { Team } from './team.ts'
import { inWords, presentTrackedTime, type ShownTime, TrackedTime } from './tracked-time.ts'
import { presentGhost, presentUserToVisitors, User } from './user.ts'
import type { Viewer } from './viewer.ts'

export type TimelineComment = typeof TimelineComment.static
export const TimelineComment = t.Object(
  {
    id: int64(),
    type: t.String({ description: 'What happened, such as `comment`, `close` and `reopen`' }),
    html_url: t.String(),
    pull_request_url: t.String(),
    issue_url: t.String(),
    user: User,
    body: t.String(),
    created_at: t.String({ format: 'date-time' }),
    updated_at: t.String({ format: 'date-time' }),
    old_project_id: int64(),
    project_id: int64(),
    old_milestone: t.Nullable(Milestone),
    milestone: t.Nullable(Milestone),
    tracked_time: t.Nullable(TrackedTime),
    old_title: t.String(),
    new_title: t.String(),
    old_ref: t.String(),
    new_ref: t.String(),
    ref_issue: t.Nullable(Issue),
    ref_comment: t.Nullable(Comment),
    ref_action: t.String(),
    ref_commit_sha: t.String(),
    review_id: int64(),
    label: t.Nullable(Label),
    assignee: t.Nullable(User),
    assignee_team: t.Nullable(Team),
    removed_assignee: t.Boolean(),
    resolve_doer: t.Nullable(User),
    dependent_issue: t.Nullable(Issue),
  },
  { $id: 'TimelineComment' },
)

export interface ShownEntry {
  entry: CommentRow
  poster: UserRow | undefined
  issue: { number: number; isPull: boolean }
  /** The one that came or went; undefined also where it was deleted since. */
  label: LabelRow | undefined
  /** Undefined also where they were deleted since. */
  oldMilestone: MilestoneRow | undefined
  milestone: MilestoneRow | undefined
  assignee: UserRow | undefined
  /** The one that was booked; undefined also where it was deleted since. */
  trackedTime: ShownTime | undefined
  /** Where the issue was named; undefined also where the reader may not see that. */
  reference?: ShownReference | undefined
}

/** What named an issue, or closed or opened it. */
export interface ShownReference {
  issue?: Issue | undefined
  comment?: Comment | undefined
  /** The address of the repository's page that has the commit. */
  repositoryUrl?: string | undefined
}

interface Place {
  /** The issues that entries show: that of the timeline, where time was booked, and those of dependencies. */
  issues: ReadonlyMap<number, Issue>
  ownerName: string
  apiUrl: string
  htmlUrl: string
}

/** Wire: an entry has the fields of all kinds; those of other kinds than its own are empty. */
const ofOtherKinds = {
  old_project_id: 0,
  project_id: 0,
  old_ref: '',
  new_ref: '',
  review_id: 0,
  assignee_team: null,
  resolve_doer: null,
} as const

/** Kinds whose body is a number of seconds. Wire: it is shown in words. */
const WITH_SECONDS: ReadonlySet<string> = new Set(['stop_tracking', 'add_time_manual', 'delete_time_manual'])

export function presentTimelineComment(shown: ShownEntry, place: Place, viewer: Viewer): TimelineComment {
  const { entry, poster, issue, label, trackedTime, reference, oldMilestone, milestone, assignee } = shown
  const own = place.issues.get(entry.issueId)
  return {
    ...ofOtherKinds,
    id: entry.id,
    type: entry.kind,
    ...commentAddresses({ id: entry.id, issue }, place.htmlUrl),
    // Wire: as of comments.
    user: poster ? presentUserToVisitors(poster, viewer) : presentGhost(viewer),
    body: bodyOf(shown),
    ref_issue: reference?.issue ?? null,
    ref_comment: reference?.comment ?? null,
    ref_action: entry.refAction ?? 'none',
    ref_commit_sha: reference?.repositoryUrl === undefined ? '' : (entry.refCommitSha ?? ''),
    tracked_time: trackedTime && own ? presentTrackedTime(trackedTime, own) : null,
    old_title: entry.oldTitle,
    new_title: entry.newTitle,
    label: label ? presentIssueLabel(label, place, viewer) : null,
    old_milestone: oldMilestone ? presentMilestone(oldMilestone) : null,
    milestone: milestone ? presentMilestone(milestone) : null,
    assignee: assignee ? presentUserToVisitors(assignee, viewer) : null,
    removed_assignee: entry.isUnassigned,
    dependent_issue: (entry.dependentIssueId !== null && place.issues.get(entry.dependentIssueId)) || null,
    created_at: wireTime(entry.createdAt),
    updated_at: wireTime(entry.updatedAt),
  }
}

/** Wire: the title of a commit is a link to it. */
function bodyOf({ entry, reference }: ShownEntry): string {
  if (WITH_SECONDS.has(entry.kind)) return inWords(Number(entry.body))
  if (entry.kind !== 'commit_ref') return entry.body
  return `<a href="${escapeHtml(`${reference?.repositoryUrl}/commit/${entry.refCommitSha}`)}">${escapeHtml(entry.body)}</a>`
}
