import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, reference } from './columns.ts'
import { comments, issues } from './issues.ts'
import { users } from './users.ts'

/** What people think of an issue or of a comment, in one of a few words. */
export const reactions = pgTable(
  'reactions',
  {
    id: id(),
    issueId: reference().references(() => issues.id, { onDelete: 'cascade' }),
    commentId: reference().references(() => comments.id, { onDelete: 'cascade' }),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    content: text().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    // Each is null for the other kind, and what is null is never the same: nobody reacts twice with one word.
    uniqueIndex('reactions_issue_key').on(table.issueId, table.userId, table.content),
    uniqueIndex('reactions_comment_key').on(table.commentId, table.userId, table.content),
    index('reactions_issue_idx').on(table.issueId, table.id).where(sql`issue_id is not null`),
    index('reactions_comment_idx').on(table.commentId, table.id).where(sql`comment_id is not null`),
    index('reactions_user_idx').on(table.userId),
    check('reactions_one_subject', sql`(issue_id is null) <> (comment_id is null)`),
    check('reactions_content_length', sql`char_length(content) between 1 and 50`),
  ],
)
export type ReactionRow = typeof reactions.$inferSelect
