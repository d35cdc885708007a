import { index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, reference } from './columns.ts'
import { emails } from './users.ts'

/** Accounts that somebody asked for and that are made once a link in a mail was followed. None of them keeps a name or an address. */
export const registrations = pgTable(
  'registrations',
  {
    id: id(),
    name: text().notNull(),
    email: text().notNull(),
    passwordHash: text().notNull(),
    /** SHA-256 of the code in the link. */
    codeHash: text().notNull(),
    expiresAt: instant().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('registrations_code_key').on(table.codeHash),
    index('registrations_expires_idx').on(table.expiresAt),
  ],
)
export type RegistrationRow = typeof registrations.$inferSelect

/** Links by which a forgotten password is replaced. Each goes with the address that it was mailed to. */
export const passwordResets = pgTable(
  'password_resets',
  {
    emailId: reference()
      .primaryKey()
      .references(() => emails.id, { onDelete: 'cascade' }),
    /** SHA-256 of the code in the link. */
    codeHash: text().notNull(),
    expiresAt: instant().notNull(),
  },
  (table) => [
    uniqueIndex('password_resets_code_key').on(table.codeHash),
    index('password_resets_expires_idx').on(table.expiresAt),
  ],
)
