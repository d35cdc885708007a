import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { authSources } from './auth-sources.ts'
import { createdAt, id, instant, reference, updatedAt } from './columns.ts'

export const visibilities = ['public', 'limited', 'private'] as const
export type Visibility = (typeof visibilities)[number]

/** The theme of those who chose none. Wire: the name that clients know. */
export const DEFAULT_THEME = 'gitea-auto'

/**
 * People and organizations share one table, because they share one namespace and both own repositories.
 * `lower_name` carries the case-insensitive uniqueness of names.
 */
export const users = pgTable(
  'users',
  {
    id: id(),
    kind: text({ enum: ['user', 'organization'] })
      .notNull()
      .default('user'),
    name: text().notNull(),
    lowerName: text().notNull().generatedAlwaysAs(sql`lower(name)`),
    fullName: text().notNull().default(''),
    /** The primary address of a person, always equal to the primary row of `emails`; the contact address of an organization. */
    email: text().notNull().default(''),
    keepEmailPrivate: boolean().notNull().default(false),
    description: text().notNull().default(''),
    location: text().notNull().default(''),
    website: text().notNull().default(''),
    language: text().notNull().default(''),
    visibility: text({ enum: visibilities }).notNull().default('public'),
    /** Content hash of an uploaded avatar; empty means the generated one. */
    avatar: text().notNull().default(''),

    passwordHash: text().notNull().default(''),
    mustChangePassword: boolean().notNull().default(false),
    loginName: text().notNull().default(''),
    /** Where the person signs in, and `loginName` who they are there. Null for an account of this site. */
    sourceId: reference().references(() => authSources.id, { onDelete: 'restrict' }),
    isAdmin: boolean().notNull().default(false),
    isActive: boolean().notNull().default(true),
    isRestricted: boolean().notNull().default(false),
    prohibitLogin: boolean().notNull().default(false),
    /** -1 means the site's default. */
    maxRepoCreation: integer().notNull().default(-1),
    allowCreateOrganization: boolean().notNull().default(true),
    allowGitHook: boolean().notNull().default(false),
    allowImportLocal: boolean().notNull().default(false),
    lastLoginAt: instant(),

    theme: text().notNull().default(DEFAULT_THEME),
    diffViewStyle: text().notNull().default(''),
    hideActivity: boolean().notNull().default(false),

    /** Organizations: whether repository administrators may give teams access. */
    repoAdminChangeTeamAccess: boolean().notNull().default(false),

    followersCount: integer().notNull().default(0),
    followingCount: integer().notNull().default(0),
    starsCount: integer().notNull().default(0),
    /** Kept by a trigger, as is `starsCount`. */
    repositoriesCount: integer().notNull().default(0),

    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('users_lower_name_key').on(table.lowerName),
    index('users_kind_lower_name_idx').on(table.kind, table.lowerName),
    index('users_kind_created_idx').on(table.kind, table.createdAt, table.id),
    index('users_login_name_idx').on(table.sourceId, table.loginName),
    index('users_search_idx').using(
      'gin',
      sql`lower(${table.name} || ' ' || ${table.fullName} || ' ' || ${table.email}) gin_trgm_ops`,
    ),
    // The few whose acts not everybody sees: feeds look them up for each record.
    index('users_hidden_idx').on(table.id).where(sql`hide_activity or visibility <> 'public'`),
    check('users_name_present', sql`${table.name} <> ''`),
    check('users_login_name_of_source', sql`source_id is null or login_name <> ''`),
  ],
)
export type UserRow = typeof users.$inferSelect
export type NewUser = typeof users.$inferInsert

/**
 * Every address of a person. A verified one belongs to one person on the whole site, whatever its letter case; one that waits to be
 * confirmed keeps nobody from it.
 */
export const emails = pgTable(
  'emails',
  {
    id: id(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    lowerEmail: text().notNull().generatedAlwaysAs(sql`lower(email)`),
    isPrimary: boolean().notNull().default(false),
    isActivated: boolean().notNull().default(false),
    /**
     * Whether the person showed that it is theirs, or an administrator gave it to them. Without CONFIRM_EMAILS an address that somebody
     * adds is verified at once, but says nothing to others of who it belongs to.
     */
    isProven: boolean().notNull().default(false),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('emails_lower_email_key').on(table.lowerEmail).where(sql`is_activated`),
    uniqueIndex('emails_primary_key').on(table.userId).where(sql`is_primary`),
    uniqueIndex('emails_user_address_key').on(table.userId, table.lowerEmail),
    index('emails_address_idx').on(table.lowerEmail, table.id),
    index('emails_search_idx').using('gin', sql`${table.lowerEmail} gin_trgm_ops`),
    check('emails_primary_verified', sql`is_activated or not is_primary`),
  ],
)
export type EmailRow = typeof emails.$inferSelect

/** Links that were mailed to addresses that wait to be confirmed: the SHA-256 of the code in each. */
export const emailConfirmations = pgTable(
  'email_confirmations',
  {
    emailId: reference()
      .primaryKey()
      .references(() => emails.id, { onDelete: 'cascade' }),
    codeHash: text().notNull(),
    expiresAt: instant().notNull(),
  },
  (table) => [
    uniqueIndex('email_confirmations_code_key').on(table.codeHash),
    index('email_confirmations_expires_idx').on(table.expiresAt),
  ],
)

/** Names that a person or organization gave up by a rename and that still lead to it, until somebody else takes them. */
export const userRedirects = pgTable('user_redirects', {
  lowerName: text().primaryKey(),
  userId: reference()
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
  createdAt: createdAt(),
})

/** Names of accounts that were deleted, reserved for as long as the site says. */
export const freedNames = pgTable('freed_names', {
  lowerName: text().primaryKey(),
  freedAt: instant().notNull(),
})

export const follows = pgTable(
  'follows',
  {
    followerId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    followedId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.followerId, table.followedId] }),
    index('follows_followed_idx').on(table.followedId, table.createdAt, table.followerId),
    index('follows_follower_idx').on(table.followerId, table.createdAt, table.followedId),
    check('follows_not_self', sql`follower_id <> followed_id`),
  ],
)

/** A user's or an organization's block list. */
export const blocks = pgTable(
  'blocks',
  {
    blockerId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    blockedId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    note: text().notNull().default(''),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.blockerId, table.blockedId] }),
    index('blocks_blocked_idx').on(table.blockedId),
    check('blocks_not_self', sql`blocker_id <> blocked_id`),
  ],
)

export const badges = pgTable(
  'badges',
  {
    id: id(),
    slug: text().notNull(),
    description: text().notNull().default(''),
    imageUrl: text().notNull().default(''),
    createdAt: createdAt(),
  },
  (table) => [uniqueIndex('badges_slug_key').on(table.slug)],
)
export type BadgeRow = typeof badges.$inferSelect

export const userBadges = pgTable(
  'user_badges',
  {
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    badgeId: reference()
      .notNull()
      .references(() => badges.id, { onDelete: 'cascade' }),
  },
  (table) => [primaryKey({ columns: [table.userId, table.badgeId] }), index('user_badges_badge_idx').on(table.badgeId)],
)
