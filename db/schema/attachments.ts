import { sql } from 'drizzle-orm'
import { bigint, check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { createdAt, id, reference } from './columns.ts'
import { comments, issues } from './issues.ts'
import { releases } from './releases.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/**
 * Files of releases, issues and comments: each of one of them. The bytes are in the object store under a key made of the uuid; they are there before the row is. Where a row
 * goes, whatever the cause, a trigger notes the key in `removed_objects`.
 */
export const attachments = pgTable(
  'attachments',
  {
    id: id(),
    /** Random, the address of the file. */
    uuid: uuid().notNull(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    releaseId: reference().references(() => releases.id, { onDelete: 'cascade' }),
    issueId: reference().references(() => issues.id, { onDelete: 'cascade' }),
    commentId: reference().references(() => comments.id, { onDelete: 'cascade' }),
    uploaderId: reference().references(() => users.id, { onDelete: 'set null' }),
    /** As people see it, without folders. Several files of one place may share it. */
    name: text().notNull(),
    size: bigint({ mode: 'number' }).notNull(),
    sha256: text().notNull(),
    /** What the bytes look like, and are sent as. */
    mediaType: text().notNull(),
    downloadCount: bigint({ mode: 'number' }).notNull().default(0),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('attachments_uuid_key').on(table.uuid),
    index('attachments_release_idx').on(table.releaseId, table.id),
    index('attachments_issue_idx').on(table.issueId, table.id),
    index('attachments_comment_idx').on(table.commentId, table.id),
    index('attachments_repository_idx').on(table.repositoryId),
    index('attachments_uploader_idx').on(table.uploaderId),
    check('attachments_place', sql`num_nonnulls(release_id, issue_id, comment_id) = 1`),
    check('attachments_size', sql`size >= 0 and download_count >= 0`),
  ],
)
export type AttachmentRow = typeof attachments.$inferSelect

/** Keys of objects that no row names any more. A periodic task removes each, and then its row. */
export const removedObjects = pgTable('removed_objects', {
  key: text().primaryKey(),
  createdAt: createdAt(),
})
