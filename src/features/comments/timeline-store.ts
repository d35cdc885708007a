import { and, eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { comments, type IssueRow, labels, milestones } from '../../../db/schema/issues.ts'
import { trackedTimes } from '../../../db/schema/tracked-times.ts'
import { users } from '../../../db/schema/users.ts'
import { type TimeRange, within } from '../../../db/time-range.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import type { ShownEntry } from '../../wire/timeline.ts'
import { isReferenceVisible, loadReferences } from './references.ts'
import { isDependencyVisible } from './shown-issues.ts'

export interface FoundEntry extends ShownEntry {
  /** Changes with every row that the entry's shape is made of. */
  version: string
}

/** Whose time was booked, and who was asked to work; `users` is who did it. */
const [workers, assignees] = [alias(users, 'worker'), alias(users, 'assignee')]
const oldMilestones = alias(milestones, 'old_milestone')

const happenedAt: SortKey = { key: comments.createdAt, type: 'timestamptz' }
const oldestFirst: SortKey[] = [happenedAt, { key: comments.id, type: 'bigint' }]

/**
 * What people wrote on an issue and what happened to it, oldest first: in a fixed number of statements. What is about an issue that the reader
 * may not see is left out.
 */
export async function listTimeline(
  context: Context,
  actor: Actor | undefined,
  { issue, range, page }: { issue: IssueRow; range: TimeRange; page: Page },
): Promise<Paged<FoundEntry>> {
  const { db, config } = context
  const isSeen = isReferenceVisible(config, actor)
  const isShown = sql`(${comments.kind} not in ('issue_ref', 'comment_ref', 'commit_ref') or ${isSeen})
    and (${comments.dependentIssueId} is null or ${isDependencyVisible(config, actor)})`
  const matching = and(eq(comments.issueId, issue.id), within(comments.updatedAt, range), isShown)
  const ordered = db
    .select({
      entry: comments,
      poster: users,
      label: labels,
      time: trackedTimes,
      worker: workers.name,
      oldMilestone: oldMilestones,
      milestone: milestones,
      assignee: assignees,
      version: sql<string>`concat_ws(' ', ${rowVersion(comments)}, ${rowVersion(users)}, ${rowVersion(labels)},
        ${rowVersion(trackedTimes)}, ${workers.name}, ${rowVersion(oldMilestones)}, ${rowVersion(milestones)}, ${rowVersion(assignees)})`,
      at: positionText(happenedAt),
      seesReference: isSeen,
    })
    .from(comments)
    .leftJoin(users, eq(users.id, comments.posterId))
    .leftJoin(labels, eq(labels.id, comments.labelId))
    .leftJoin(trackedTimes, eq(trackedTimes.commentId, comments.id))
    .leftJoin(workers, eq(workers.id, trackedTimes.userId))
    .leftJoin(oldMilestones, eq(oldMilestones.id, comments.oldMilestoneId))
    .leftJoin(milestones, eq(milestones.id, comments.milestoneId))
    .leftJoin(assignees, eq(assignees.id, comments.assigneeId))
    .where(and(matching, afterPosition(oldestFirst, page.after)))
    .orderBy(inOrder(oldestFirst))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([ordered, db.$count(comments, matching)])
  const found = cutPage(page, { rows, total }, ({ at, entry }) => [at, String(entry.id)])
  const references = await loadReferences(
    context,
    actor,
    found.rows.filter(({ seesReference }) => seesReference).map(({ entry }) => entry),
  )
  return {
    ...found,
    rows: found.rows.map(({ entry, version, time, worker, ...others }) => {
      const reference = references.get(entry.id)
      return {
        ...{ entry, issue, reference },
        poster: others.poster ?? undefined,
        label: others.label ?? undefined,
        oldMilestone: others.oldMilestone ?? undefined,
        milestone: others.milestone ?? undefined,
        assignee: others.assignee ?? undefined,
        trackedTime: time ? { time, userName: worker ?? undefined } : undefined,
        version: reference ? `${version} ${JSON.stringify(reference)}` : version,
      }
    }),
  }
}
