import { sql } from 'drizzle-orm'
import { bigint, check, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, reference } from './columns.ts'
import { users } from './users.ts'

/** Passkeys (WebAuthn): public keys whose private half never leaves a person's device. */
export const passkeys = pgTable(
  'passkeys',
  {
    id: id(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** As the device calls it, in base64url. */
    credentialId: text().notNull(),
    /** In the form of COSE (RFC 9052). */
    publicKey: bytes().notNull(),
    /** Counts the signatures of devices that count; 0 for all others. */
    signCount: bigint({ mode: 'number' }).notNull(),
    /** How a browser reaches the device: `usb`, `internal`... */
    transports: text().array().notNull().default(sql`'{}'::text[]`),
    lastUsedAt: instant(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('passkeys_credential_key').on(table.credentialId),
    index('passkeys_user_idx').on(table.userId, table.id),
    check('passkeys_name_length', sql`char_length(name) between 1 and 100`),
  ],
)
export type PasskeyRow = typeof passkeys.$inferSelect

/** Challenges that were answered, until they would have expired: each is good for one answer. */
export const usedChallenges = pgTable(
  'used_challenges',
  {
    challengeHash: text().primaryKey(),
    expiresAt: instant().notNull(),
  },
  (table) => [index('used_challenges_expires_idx').on(table.expiresAt)],
)
