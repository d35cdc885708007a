import { index, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { authSources } from './auth-sources.ts'
import { createdAt, id, instant, reference } from './columns.ts'
import { teams } from './organizations.ts'
import { users } from './users.ts'

/** Who somebody is at a source: whoever signs in there as this subject is this person here. */
export const externalIdentities = pgTable(
  'external_identities',
  {
    id: id(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    sourceId: reference()
      .notNull()
      .references(() => authSources.id, { onDelete: 'cascade' }),
    /** `sub` of OpenID Connect: it never changes, and is nobody else's at the source. */
    subject: text().notNull(),
    /** What the source called them last, for their own eyes. */
    label: text().notNull().default(''),
    lastUsedAt: instant(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('external_identities_subject_key').on(table.sourceId, table.subject),
    uniqueIndex('external_identities_user_key').on(table.userId, table.sourceId),
  ],
)
export type ExternalIdentityRow = typeof externalIdentities.$inferSelect

/** What a source says of somebody. */
export interface ExternalProfile {
  /** A name for an account; empty where there is none to take. */
  name: string
  fullName: string
  /** Empty where it names none. */
  email: string
  /** Whether the source has seen that the address is theirs. */
  isEmailVerified: boolean
  groups: string[]
}

/** People who have signed in at a source and belong to no account yet, until they have said which, or wanted a new one. */
export const pendingIdentities = pgTable(
  'pending_identities',
  {
    /** SHA-256 of what the browser has in a cookie. */
    handleHash: text().primaryKey(),
    sourceId: reference()
      .notNull()
      .references(() => authSources.id, { onDelete: 'cascade' }),
    subject: text().notNull(),
    label: text().notNull(),
    profile: jsonb().$type<ExternalProfile>().notNull(),
    /** When they signed in there. */
    authenticatedAt: instant().notNull(),
    /** Where they were going. */
    redirectTo: text(),
    expiresAt: instant().notNull(),
  },
  (table) => [
    index('pending_identities_source_idx').on(table.sourceId),
    index('pending_identities_expires_idx').on(table.expiresAt),
  ],
)
export type PendingIdentityRow = typeof pendingIdentities.$inferSelect

/** Who is in this group at the source belongs to this team. */
export const authSourceTeams = pgTable(
  'auth_source_teams',
  {
    sourceId: reference()
      .notNull()
      .references(() => authSources.id, { onDelete: 'cascade' }),
    groupName: text().notNull(),
    teamId: reference()
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.sourceId, table.groupName, table.teamId] }),
    index('auth_source_teams_team_idx').on(table.teamId),
  ],
)
