import { and, eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { comments, type IssueRow, labels } from '../../../db/schema/issues.ts'
import { trackedTimes } from '../../../db/schema/tracked-times.ts'
import { users } from '../../../db/schema/users.ts'
import { type TimeRange, within } from '../../../db/time-range.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import type { ShownEntry } from '../../wire/timeline.ts'

export interface FoundEntry extends ShownEntry {
  /** Changes with every row that the entry's shape is made of. */
  version: string
}

/** Whose time was booked; `users` is who did it. */
const workers = alias(users, 'worker')

const happenedAt: SortKey = { key: comments.createdAt, type: 'timestamptz' }
const oldestFirst: SortKey[] = [happenedAt, { key: comments.id, type: 'bigint' }]

/** What people wrote on an issue and what happened to it, oldest first: in two statements, whatever the kinds. */
export async function listTimeline(db: Db, issue: IssueRow, range: TimeRange, page: Page): Promise<Paged<FoundEntry>> {
  const matching = and(eq(comments.issueId, issue.id), within(comments.updatedAt, range))
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
  return {
    ...found,
    rows: found.rows.map(({ poster, label, time, worker, entry, version }) => {
      const trackedTime = time ? { time, userName: worker ?? undefined } : undefined
      return { entry, version, issue, poster: poster ?? undefined, label: label ?? undefined, trackedTime }
    }),
  }
}
