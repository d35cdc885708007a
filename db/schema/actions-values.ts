import { sql } from 'drizzle-orm'
import { check, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

export const actionsValueKinds = ['secret', 'variable'] as const
export type ActionsValueKind = (typeof actionsValueKinds)[number]

/** Secrets and variables that jobs read: of one repository, or of an account for all its repositories. */
export const actionsValues = pgTable(
  'actions_values',
  {
    id: id(),
    kind: text({ enum: actionsValueKinds }).notNull(),
    ownerId: reference().references(() => users.id, { onDelete: 'cascade' }),
    repositoryId: reference().references(() => repositories.id, { onDelete: 'cascade' }),
    /** In capitals, as jobs see it. */
    name: text().notNull(),
    /** Of a variable, which its owners may read again. */
    value: text(),
    /** Of a secret, which only jobs read: sealed for the purpose `actions secret`. */
    sealedValue: bytes(),
    description: text().notNull().default(''),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('actions_values_owner_key').on(table.ownerId, table.kind, table.name).where(sql`owner_id is not null`),
    uniqueIndex('actions_values_repository_key')
      .on(table.repositoryId, table.kind, table.name)
      .where(sql`repository_id is not null`),
    check('actions_values_one_holder', sql`num_nonnulls(owner_id, repository_id) = 1`),
    check('actions_values_one_value', sql`num_nonnulls(value, sealed_value) = 1`),
    check('actions_values_sealed', sql`(kind = 'secret') = (sealed_value is not null)`),
    check('actions_values_name_form', sql`name ~ '^[A-Z_][A-Z0-9_]*$'`),
  ],
)
export type ActionsValueRow = typeof actionsValues.$inferSelect
