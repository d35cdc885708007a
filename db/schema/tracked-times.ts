import { sql } from 'drizzle-orm'
import { check, index, integer, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, reference } from './columns.ts'
import { comments, issues } from './issues.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** What people worked on an issue. */
export const trackedTimes = pgTable(
  'tracked_times',
  {
    id: id(),
    issueId: reference()
      .notNull()
      .references(() => issues.id, { onDelete: 'cascade' }),
    /** That of the issue, so that the list of a repository has an index. */
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** Null once the account was deleted: the work was done all the same. */
    userId: reference().references(() => users.id, { onDelete: 'set null' }),
    /** The entry of the timeline that tells of it. */
    commentId: reference()
      .notNull()
      .references(() => comments.id, { onDelete: 'cascade' }),
    seconds: integer().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    index('tracked_times_issue_idx').on(table.issueId, table.createdAt, table.id),
    index('tracked_times_repository_idx').on(table.repositoryId, table.createdAt, table.id),
    index('tracked_times_user_idx').on(table.userId, table.createdAt, table.id),
    index('tracked_times_repository_user_idx').on(table.repositoryId, table.userId, table.createdAt, table.id),
    uniqueIndex('tracked_times_comment_key').on(table.commentId),
    check('tracked_times_seconds', sql`seconds >= 0`),
  ],
)
export type TrackedTimeRow = typeof trackedTimes.$inferSelect

/** The stopwatch that a person lets run: one at a time, which the primary key decides. */
export const stopwatches = pgTable(
  'stopwatches',
  {
    userId: reference()
      .primaryKey()
      .references(() => users.id, { onDelete: 'cascade' }),
    issueId: reference()
      .notNull()
      .references(() => issues.id, { onDelete: 'cascade' }),
    startedAt: instant().notNull(),
  },
  (table) => [index('stopwatches_issue_idx').on(table.issueId)],
)
