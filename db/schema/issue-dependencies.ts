import { sql } from 'drizzle-orm'
import { check, index, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import { createdAt, reference } from './columns.ts'
import { issues } from './issues.ts'

/** An issue that cannot be closed before another one, which may be of another repository. */
export const issueDependencies = pgTable(
  'issue_dependencies',
  {
    /** The one that waits. */
    issueId: reference()
      .notNull()
      .references(() => issues.id, { onDelete: 'cascade' }),
    /** The one that has to be closed first. */
    dependencyId: reference()
      .notNull()
      .references(() => issues.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.issueId, table.dependencyId] }),
    index('issue_dependencies_dependency_idx').on(table.dependencyId, table.issueId),
    check('issue_dependencies_two_issues', sql`issue_id <> dependency_id`),
  ],
)
