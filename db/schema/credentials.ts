import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** Personal access tokens. The secret is shown once; its SHA-256 is what is stored and looked up. */
export const accessTokens = pgTable(
  'access_tokens',
  {
    id: id(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    tokenHash: text().notNull(),
    lastEight: text().notNull(),
    /** Normalised scope words, see src/auth/scopes.ts. Empty: reads public things only. */
    scopes: text().array().notNull().default(sql`'{}'::text[]`),
    /** True when the token reaches only the repositories of `access_token_repositories`. */
    isLimitedToRepositories: boolean().notNull().default(false),
    expiresAt: instant(),
    lastUsedAt: instant(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('access_tokens_hash_key').on(table.tokenHash),
    uniqueIndex('access_tokens_user_name_key').on(table.userId, table.name),
    index('access_tokens_expires_idx').on(table.expiresAt).where(sql`expires_at is not null`),
    check('access_tokens_name_length', sql`char_length(name) between 1 and 255`),
  ],
)
export type AccessTokenRow = typeof accessTokens.$inferSelect

export const accessTokenRepositories = pgTable(
  'access_token_repositories',
  {
    tokenId: reference()
      .notNull()
      .references(() => accessTokens.id, { onDelete: 'cascade' }),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.tokenId, table.repositoryId] }),
    index('access_token_repositories_repository_idx').on(table.repositoryId),
  ],
)

/**
 * SSH public keys. The fingerprint is SHA256:base64, unique on the whole site: a key says who comes, and can say so of one account only,
 * or of the repositories that it deploys.
 */
export const publicKeys = pgTable(
  'public_keys',
  {
    id: id(),
    /** Null: `deploy_keys` says what the key opens. A trigger removes it with the last of them. */
    userId: reference().references(() => users.id, { onDelete: 'cascade' }),
    title: text().notNull(),
    key: text().notNull(),
    keyType: text().notNull(),
    fingerprint: text().notNull(),
    isReadOnly: boolean().notNull().default(false),
    lastUsedAt: instant(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('public_keys_fingerprint_key').on(table.fingerprint),
    uniqueIndex('public_keys_user_title_key').on(table.userId, table.title),
    index('public_keys_user_idx').on(table.userId, table.id),
  ],
)
export type PublicKeyRow = typeof publicKeys.$inferSelect

/** Keys that open one repository each, and no account. One key may open several. */
export const deployKeys = pgTable(
  'deploy_keys',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    keyId: reference()
      .notNull()
      .references(() => publicKeys.id, { onDelete: 'restrict' }),
    title: text().notNull(),
    isReadOnly: boolean().notNull().default(false),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('deploy_keys_key').on(table.keyId, table.repositoryId),
    uniqueIndex('deploy_keys_title_key').on(table.repositoryId, table.title),
    index('deploy_keys_repository_idx').on(table.repositoryId, table.id),
    check('deploy_keys_title_length', sql`char_length(title) between 1 and 255`),
  ],
)
export type DeployKeyRow = typeof deployKeys.$inferSelect

/** TOTP enrolment (RFC 6238). The shared secret is encrypted by the instance key; `last_step` makes each code work once. */
export const twoFactors = pgTable('two_factors', {
  userId: reference()
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  secret: bytes().notNull(),
  /** Null until the first code was given back. */
  confirmedAt: instant(),
  lastStep: integer().notNull().default(0),
  createdAt: createdAt(),
})

export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    id: id(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    codeHash: text().notNull(),
    usedAt: instant(),
  },
  (table) => [uniqueIndex('recovery_codes_key').on(table.userId, table.codeHash)],
)

/** Failed sign-ins per account and per address, shared by all replicas; see src/auth/throttle.ts. */
export const loginFailures = pgTable(
  'login_failures',
  {
    subject: text().primaryKey(),
    failures: integer().notNull().default(0),
    lastFailedAt: instant().notNull(),
    blockedUntil: instant(),
  },
  (table) => [index('login_failures_age_idx').on(table.lastFailedAt)],
)

/** Where people have signed in from by password: an IPv4 address, or a /64 of IPv6. */
export const signInAddresses = pgTable(
  'sign_in_addresses',
  {
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    network: text().notNull(),
    lastSeenAt: instant().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.network] }),
    index('sign_in_addresses_age_idx').on(table.lastSeenAt),
  ],
)
