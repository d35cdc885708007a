import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/**
 * Releases. Of a release that is no draft the tag is there: where a tag goes, a trigger makes a draft of its release. A trigger counts
 * those that are no drafts, too.
 */
export const releases = pgTable(
  'releases',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    tagName: text().notNull(),
    /** What the tag was made from, or is to be; '' where it was there already. */
    target: text().notNull().default(''),
    title: text().notNull().default(''),
    body: text().notNull().default(''),
    isDraft: boolean().notNull().default(false),
    isPrerelease: boolean().notNull().default(false),
    /** With a message the tag becomes an annotated one; stored for drafts. */
    tagMessage: text().notNull().default(''),
    authorId: reference().references(() => users.id, { onDelete: 'set null' }),
    /** Null while it was a draft only. */
    publishedAt: instant(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('releases_tag_key').on(table.repositoryId, table.tagName),
    index('releases_recent_idx').on(
      table.repositoryId,
      sql`coalesce(${table.publishedAt}, ${table.createdAt})`,
      table.id,
    ),
    index('releases_author_idx').on(table.authorId),
    check('releases_published', sql`is_draft or published_at is not null`),
  ],
)
export type ReleaseRow = typeof releases.$inferSelect
