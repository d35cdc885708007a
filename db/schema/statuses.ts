import { sql } from 'drizzle-orm'
import { check, index, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, id, reference } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

export const statusStates = ['pending', 'success', 'error', 'failure', 'warning', 'skipped'] as const
export type StatusState = (typeof statusStates)[number]

/** What programs have said about commits. The newest of a context counts; the others are its history. */
export const commitStatuses = pgTable(
  'commit_statuses',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    sha: text().notNull(),
    context: text().notNull().default(''),
    state: text({ enum: statusStates }).notNull(),
    description: text().notNull().default(''),
    targetUrl: text().notNull().default(''),
    creatorId: reference().references(() => users.id, { onDelete: 'set null' }),
    createdAt: createdAt(),
  },
  (table) => [
    index('commit_statuses_latest_idx').on(table.repositoryId, table.sha, table.context, table.id.desc().nullsFirst()),
    index('commit_statuses_recent_idx').on(table.repositoryId, table.sha, table.id),
    index('commit_statuses_creator_idx').on(table.creatorId),
    check('commit_statuses_context_length', sql`char_length(context) <= 255`),
  ],
)
export type CommitStatusRow = typeof commitStatuses.$inferSelect
