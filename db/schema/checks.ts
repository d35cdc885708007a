import { index, pgTable, text } from 'drizzle-orm/pg-core'
import { instant, reference } from './columns.ts'
import { repositories } from './repositories.ts'

/** When the folder of each repository was last looked through and tidied up; periodic tasks take the oldest first. */
export const repositoryChecks = pgTable(
  'repository_checks',
  {
    repositoryId: reference()
      .primaryKey()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    checkedAt: instant(),
    /** What git found wrong with it; empty for a sound one. */
    problems: text().array().notNull().default([]),
    maintainedAt: instant(),
  },
  (table) => [
    index('repository_checks_checked_idx').on(table.checkedAt),
    index('repository_checks_maintained_idx').on(table.maintainedAt),
  ],
)
