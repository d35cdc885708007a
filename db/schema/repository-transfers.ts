import { sql } from 'drizzle-orm'
import { bigint, index, pgTable } from 'drizzle-orm/pg-core'
import { createdAt, reference } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** A repository that was offered to another owner, who has not answered yet. There is one offer at a time. */
export const repositoryTransfers = pgTable(
  'repository_transfers',
  {
    repositoryId: reference()
      .primaryKey()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    doerId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** A person or an organization. */
    recipientId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** Teams of the recipient that shall reach the repository. Those that are gone when it comes are passed over. */
    teamIds: bigint({ mode: 'number' }).array().notNull().default(sql`'{}'::bigint[]`),
    createdAt: createdAt(),
  },
  (table) => [
    index('repository_transfers_recipient_idx').on(table.recipientId, table.repositoryId),
    index('repository_transfers_doer_idx').on(table.doerId),
  ],
)
export type RepositoryTransferRow = typeof repositoryTransfers.$inferSelect
