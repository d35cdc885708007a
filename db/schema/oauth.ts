import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, reference, updatedAt } from './columns.ts'
import { sessions } from './sessions.ts'
import { users } from './users.ts'

/** Programs that people may let act for them. Without an owner it is built in: the same on every site. */
export const oauthApplications = pgTable(
  'oauth_applications',
  {
    id: id(),
    ownerId: reference().references(() => users.id, { onDelete: 'cascade' }),
    clientId: text().notNull(),
    name: text().notNull(),
    /** Null for a built-in one, which has no secret. */
    secretHash: text(),
    /** RFC 6749, 2.1: whether it can keep its secret. */
    isConfidential: boolean().notNull(),
    /** Whether people who allowed it before are not asked again, though it is public. */
    skipsConsent: boolean().notNull().default(false),
    redirectUris: text().array().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('oauth_applications_client_id_key').on(table.clientId),
    index('oauth_applications_owner_idx').on(table.ownerId, table.id),
    check('oauth_applications_name_length', sql`char_length(name) between 1 and 255`),
    check('oauth_applications_redirect_uris', sql`cardinality(redirect_uris) between 1 and 100`),
    check('oauth_applications_secret', sql`(secret_hash is null) = (owner_id is null)`),
  ],
)
export type OAuthApplicationRow = typeof oauthApplications.$inferSelect

/** What a person allows an application. Without it none of the application's tokens works. */
export const oauthGrants = pgTable(
  'oauth_grants',
  {
    id: id(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    applicationId: reference()
      .notNull()
      .references(() => oauthApplications.id, { onDelete: 'cascade' }),
    /** Everything that was consented to so far: words of OpenID Connect, and normalised ones of src/auth/scopes.ts. */
    scopes: text().array().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('oauth_grants_user_application_key').on(table.userId, table.applicationId),
    index('oauth_grants_user_idx').on(table.userId, table.id),
    index('oauth_grants_application_idx').on(table.applicationId),
  ],
)
export type OAuthGrantRow = typeof oauthGrants.$inferSelect

/**
 * One consent: its code, the request that the code answers, and the tokens that came of it. The refresh token is a handle and a
 * secret. Only the hash of the present secret and of the one before it are kept; any other secret with a right handle is an old one, and
 * ends the authorization. So a family of tokens is one row, however often it was refreshed.
 */
export const oauthAuthorizations = pgTable(
  'oauth_authorizations',
  {
    id: id(),
    grantId: reference()
      .notNull()
      .references(() => oauthGrants.id, { onDelete: 'cascade' }),
    /** As they were consented to this time. No token of this authorization has more. */
    scopes: text().array().notNull(),
    /** `scope` as it was asked for: where that is not what was granted, the token's answer says so. */
    requestedScope: text().notNull(),
    nonce: text(),
    /** When the person signed in. */
    authTime: instant().notNull(),
    /** Null for what was allowed on another device, without a code. */
    codeHash: text(),
    codeExpiresAt: instant(),
    codeUsedAt: instant(),
    /** Empty for what was allowed on another device. */
    redirectUri: text().notNull(),
    codeChallenge: text(),
    codeChallengeMethod: text({ enum: ['S256', 'plain'] }),
    handleHash: text(),
    refreshHash: text(),
    previousRefreshHash: text(),
    refreshedAt: instant(),
    /** When nothing of it can be used any more. */
    expiresAt: instant().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('oauth_authorizations_code_key').on(table.codeHash),
    uniqueIndex('oauth_authorizations_handle_key').on(table.handleHash),
    index('oauth_authorizations_grant_idx').on(table.grantId, table.id),
    index('oauth_authorizations_expires_idx').on(table.expiresAt),
    check('oauth_authorizations_challenge', sql`(code_challenge is null) = (code_challenge_method is null)`),
    check('oauth_authorizations_refresh', sql`(handle_hash is null) = (refresh_hash is null)`),
  ],
)
export type OAuthAuthorizationRow = typeof oauthAuthorizations.$inferSelect

export const oauthAccessTokens = pgTable(
  'oauth_access_tokens',
  {
    id: id(),
    authorizationId: reference()
      .notNull()
      .references(() => oauthAuthorizations.id, { onDelete: 'cascade' }),
    tokenHash: text().notNull(),
    /** Those of the authorization, or fewer where fewer were asked for. */
    scopes: text().array().notNull(),
    expiresAt: instant().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('oauth_access_tokens_hash_key').on(table.tokenHash),
    index('oauth_access_tokens_authorization_idx').on(table.authorizationId, table.id),
    index('oauth_access_tokens_expires_idx').on(table.expiresAt),
  ],
)
export type OAuthAccessTokenRow = typeof oauthAccessTokens.$inferSelect

/** Keys of id tokens. One signs; those that have signed stay published until the last of their tokens has ended. */
export const oauthSigningKeys = pgTable(
  'oauth_signing_keys',
  {
    /** RFC 7638 thumbprint of the public key. */
    kid: text().primaryKey(),
    algorithm: text({ enum: ['RS256', 'ES256', 'EdDSA'] }).notNull(),
    /** As a JWK; so is the private one, sealed. */
    publicKey: jsonb().$type<Record<string, string>>().notNull(),
    privateKey: bytes().notNull(),
    createdAt: createdAt(),
    /** Null for the one that signs. */
    retiredAt: instant(),
  },
  () => [uniqueIndex('oauth_signing_keys_one_signs_key').on(sql`(true)`).where(sql`retired_at is null`)],
)
export type OAuthSigningKeyRow = typeof oauthSigningKeys.$inferSelect

/** Requests of applications that wait for somebody's answer on the consent page. The answer takes the row away: one consent, one code. */
export const oauthRequests = pgTable(
  'oauth_requests',
  {
    /** Random; the form of the page has it. */
    handle: text().primaryKey(),
    sessionId: reference()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    applicationId: reference()
      .notNull()
      .references(() => oauthApplications.id, { onDelete: 'cascade' }),
    redirectUri: text().notNull(),
    state: text(),
    scopes: text().array().notNull(),
    requestedScope: text().notNull(),
    nonce: text(),
    codeChallenge: text(),
    codeChallengeMethod: text({ enum: ['S256', 'plain'] }),
    createdAt: instant().notNull(),
  },
  (table) => [
    index('oauth_requests_session_idx').on(table.sessionId, table.createdAt),
    index('oauth_requests_application_idx').on(table.applicationId),
    index('oauth_requests_created_idx').on(table.createdAt),
    check('oauth_requests_challenge', sql`(code_challenge is null) = (code_challenge_method is null)`),
  ],
)
export type OAuthRequestRow = typeof oauthRequests.$inferSelect

/** Devices without a browser that wait for somebody to allow them elsewhere (RFC 8628). */
export const oauthDeviceCodes = pgTable(
  'oauth_device_codes',
  {
    id: id(),
    applicationId: reference()
      .notNull()
      .references(() => oauthApplications.id, { onDelete: 'cascade' }),
    deviceCodeHash: text().notNull(),
    /** What the person types: short, and good for minutes. */
    userCode: text().notNull(),
    scopes: text().array().notNull(),
    requestedScope: text().notNull(),
    expiresAt: instant().notNull(),
    /** How often the device may ask, in seconds; it grows when it asks too often. */
    intervalSeconds: integer().notNull(),
    nextPollAt: instant().notNull(),
    /** Set when somebody has said no. */
    deniedAt: instant(),
    /** Set when somebody has said yes. */
    authorizationId: reference().references(() => oauthAuthorizations.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('oauth_device_codes_device_key').on(table.deviceCodeHash),
    uniqueIndex('oauth_device_codes_user_key').on(table.userCode),
    index('oauth_device_codes_application_idx').on(table.applicationId),
    index('oauth_device_codes_authorization_idx').on(table.authorizationId),
    index('oauth_device_codes_expires_idx').on(table.expiresAt),
  ],
)
export type OAuthDeviceCodeRow = typeof oauthDeviceCodes.$inferSelect
