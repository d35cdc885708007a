import { and, eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { comments, type IssueRow, labels } from '../../../db/schema/issues.ts'
import { trackedTimes } from '../../../db/schema/tracked-times.ts'
import { users } from '../../../db/schema/users.ts'
import { type TimeRange, within } from '../../../db/time-range.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import type { ShownEntry } from '../../wire/timeline.ts'
import { isReferenceVisible, loadReferences } from './references.ts'

export interface FoundEntry extends ShownEntry {
  /** Changes with every row that the entry's shape is made of. */
  version: string
}

/** Whose time was booked; `users` is who did it. */
const workers = alias(users, 'worker')

const happenedAt: SortKey = { key: comments.createdAt, type: 'timestamptz' }
const oldestFirst: SortKey[] = [happenedAt, { key: comments.id, type: 'bigint' }]

/** What people wrote on an issue and what happened to it, oldest first: in a fixed number of statements. */
export async function listTimeline(
  context: Context,
  actor: Actor | undefined,
  { issue, range, page }: { issue: IssueRow; range: TimeRange; page: Page },
): Promise<Paged<FoundEntry>> {
  const { db, config } = context
  const isSeen = isReferenceVisible(config, actor)
  const isShown = sql`(${comments.kind} not in ('issue_ref', 'comment_ref', 'commit_ref') or ${isSeen})`
  const matching = and(eq(comments.issueId, issue.id), within(comments.updatedAt, range), isShown)
  const ordered = db
    .select({
      entry: comments,
      poster: users,
      label: labels,
      time: trackedTimes,
      worker: workers.name,
      version: sql<string>`concat_ws(' ', ${rowVersion(comments)}, ${rowVersion(users)}, ${rowVersion(labels)},
        ${rowVersion(trackedTimes)}, ${workers.name})`,
      at: positionText(happenedAt),
      seesReference: isSeen,
    })
    .from(comments)
    .leftJoin(users, eq(users.id, comments.posterId))
    .leftJoin(labels, eq(labels.id, comments.labelId))
    .leftJoin(trackedTimes, eq(trackedTimes.commentId, comments.id))
    .leftJoin(workers, eq(workers.id, trackedTimes.userId))
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
    rows: found.rows.map(({ poster, label, time, worker, entry, version }) => {
      const trackedTime = time ? { time, userName: worker ?? undefined } : undefined
      const reference = references.get(entry.id)
      const shown = { entry, issue, poster: poster ?? undefined, label: label ?? undefined, trackedTime, reference }
      return { ...shown, version: reference ? `${version} ${JSON.stringify(reference)}` : version }
    }),
  }
}
