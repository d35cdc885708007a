import { sql } from 'drizzle-orm'
import { type AnyPgColumn, boolean, check, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, reference } from './columns.ts'
import { users } from './users.ts'

/**
 * OpenPGP keys of people, and beside each its subkeys. What stands here was signed by the primary key and checked when it came
 * (src/signatures/openpgp/certificate.ts), so that verifying a commit takes one row and its primary key.
 */
export const gpgKeys = pgTable(
  'gpg_keys',
  {
    id: id(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** Only of subkeys. */
    primaryId: reference().references((): AnyPgColumn => gpgKeys.id, { onDelete: 'cascade' }),
    /** 16 hexadecimal digits in capitals. */
    keyId: text().notNull(),
    /** 40 or 64. */
    fingerprint: text().notNull(),
    /** The packet of the key itself. */
    packet: bytes().notNull(),
    canSign: boolean().notNull(),
    canEncryptComms: boolean().notNull(),
    canEncryptStorage: boolean().notNull(),
    canCertify: boolean().notNull(),
    /** When the key itself was made, and when it ends. */
    madeAt: instant().notNull(),
    expiresAt: instant(),
    /** Only of primary keys: all packets as they came, the addresses in them, and whether its owner has proved to hold it. */
    certificate: bytes(),
    emails: text().array().notNull().default(sql`'{}'::text[]`),
    isVerified: boolean().notNull().default(false),
    createdAt: createdAt(),
  },
  (table) => [
    // Anybody can make another's subkey for encryption their own, since it gives no consent; the others cannot be taken.
    uniqueIndex('gpg_keys_key_id_key').on(table.keyId).where(sql`primary_id is null or can_sign`),
    index('gpg_keys_user_idx').on(table.userId, table.id),
    index('gpg_keys_primary_idx').on(table.primaryId).where(sql`primary_id is not null`),
    check('gpg_keys_key_id_form', sql`key_id ~ '^[0-9A-F]{16}$'`),
  ],
)
export type GpgKeyRow = typeof gpgKeys.$inferSelect
