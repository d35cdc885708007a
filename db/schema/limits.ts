import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/** Requests of each caller in the running window, shared by all replicas. Nothing is lost with it, so it is not logged. */
export const requestWindows = pgTable(
  'request_windows',
  {
    caller: text().primaryKey(),
    startedAt: instant().notNull(),
    requests: integer().notNull(),
  },
  (table) => [index('request_windows_started_idx').on(table.startedAt)],
)
