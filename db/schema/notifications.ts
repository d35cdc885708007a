import { sql } from 'drizzle-orm'
import { bigint, boolean, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, reference, updatedAt } from './columns.ts'
import { issues } from './issues.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

export const threadStatuses = ['unread', 'read', 'pinned'] as const
export type ThreadStatus = (typeof threadStatuses)[number]

/** One thread for each person and issue or pull request. Whether the person may still see it is judged when it is read. */
export const notifications = pgTable(
  'notifications',
  {
    id: id(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** These two are the issue's own and never change: lists and counts need no look at it. */
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    isPull: boolean().notNull(),
    issueId: reference()
      .notNull()
      .references(() => issues.id, { onDelete: 'cascade' }),
    status: text({ enum: threadStatuses }).notNull().default('unread'),
    /** Its newest event, so that a repeated fan-out changes nothing. */
    eventId: bigint({ mode: 'number' }).notNull(),
    createdAt: createdAt(),
    /** When there was news; marking a thread is none. */
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('notifications_issue_user_key').on(table.issueId, table.userId),
    index('notifications_user_idx').on(table.userId, table.updatedAt, table.eventId),
    // What people look at: few, whatever they have read in all the years.
    index('notifications_open_idx').on(table.userId, table.updatedAt, table.eventId).where(sql`status <> 'read'`),
    index('notifications_repository_idx').on(table.repositoryId, table.userId, table.updatedAt, table.eventId),
  ],
)
export type NotificationRow = typeof notifications.$inferSelect
