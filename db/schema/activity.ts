import { sql } from 'drizzle-orm'
import { bigint, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, reference } from './columns.ts'
import { comments, issues } from './issues.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** The activity feed: one row per event, read by keyset on (subject, id). Visibility is judged when read. */
export const activities = pgTable(
  'activities',
  {
    id: id(),
    /** The event this record came from; unique, so that a repeated fan-out writes nothing twice. */
    eventId: bigint({ mode: 'number' }).notNull(),
    actorId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The owner of the repository: the feed of an organization reads by it. */
    ownerId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** Gitea's word, such as `create_repo`, `commit_repo`, `create_issue`. */
    opType: text().notNull(),
    refName: text().notNull().default(''),
    /** The feed shows their present titles and texts, and nothing of them once they are gone. */
    issueId: reference().references(() => issues.id, { onDelete: 'cascade' }),
    commentId: reference().references(() => comments.id, { onDelete: 'cascade' }),
    /** What cannot be read elsewhere: the commits of a push as JSON, the old name of a renamed repository. */
    content: text().notNull().default(''),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('activities_event_key').on(table.eventId, table.opType, table.refName),
    index('activities_repository_idx').on(table.repositoryId, table.id),
    index('activities_owner_idx').on(table.ownerId, table.id),
    index('activities_actor_idx').on(table.actorId, table.id),
    index('activities_created_idx').on(table.createdAt),
    index('activities_issue_idx').on(table.issueId).where(sql`issue_id is not null`),
    index('activities_comment_idx').on(table.commentId).where(sql`comment_id is not null`),
  ],
)
export type ActivityRow = typeof activities.$inferSelect
