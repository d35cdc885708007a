import { sql } from 'drizzle-orm'
import { boolean, check, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt } from './columns.ts'

/** The one row of what belongs to the whole site. */
export const instance = pgTable(
  'instance',
  {
    isOnlyRow: boolean().primaryKey().default(true),
    /** Tells the secret key that stored secrets are sealed with from any other, without giving it away. */
    keyFingerprint: text().notNull(),
    createdAt: createdAt(),
  },
  () => [check('instance_one_row', sql`is_only_row`)],
)
