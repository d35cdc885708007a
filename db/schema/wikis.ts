import { bigint, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'

/**
 * The Git repository of a wiki, beside the one of the code. Its folder is named by an id of its own, from the sequence of
 * repositories, so that the store knows one kind of folder only. A row exists once the folder is whole.
 */
export const wikis = pgTable(
  'wikis',
  {
    repositoryId: reference()
      .primaryKey()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    folderId: bigint({ mode: 'number' }).notNull(),
    /** When a push began or a page was changed: there may be something to tidy up since. */
    updatedAt: updatedAt(),
  },
  (table) => [uniqueIndex('wikis_folder_key').on(table.folderId)],
)
