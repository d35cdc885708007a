import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, reference, updatedAt } from './columns.ts'
import { teams } from './organizations.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** What the people and teams of a rule for branches may do. */
export const protectionLists = ['push', 'force_push', 'merge', 'approvals'] as const
export type ProtectionList = (typeof protectionLists)[number]

/** Rules for branches. The first whose name fits a branch holds for it: by priority, a plain name before a glob, the older first. */
export const branchProtections = pgTable(
  'branch_protections',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** A branch, or a glob of branches. */
    ruleName: text().notNull(),
    priority: integer().notNull(),
    enablePush: boolean().notNull().default(false),
    enablePushWhitelist: boolean().notNull().default(false),
    pushWhitelistDeployKeys: boolean().notNull().default(false),
    enableForcePush: boolean().notNull().default(false),
    enableForcePushAllowlist: boolean().notNull().default(false),
    forcePushAllowlistDeployKeys: boolean().notNull().default(false),
    enableMergeWhitelist: boolean().notNull().default(false),
    enableStatusCheck: boolean().notNull().default(false),
    /** Null until it was set once, as clients see it. */
    statusCheckContexts: text().array(),
    requiredApprovals: integer().notNull().default(0),
    enableApprovalsWhitelist: boolean().notNull().default(false),
    blockOnRejectedReviews: boolean().notNull().default(false),
    blockOnOfficialReviewRequests: boolean().notNull().default(false),
    blockOnOutdatedBranch: boolean().notNull().default(false),
    dismissStaleApprovals: boolean().notNull().default(false),
    ignoreStaleApprovals: boolean().notNull().default(false),
    requireSignedCommits: boolean().notNull().default(false),
    /** Globs between semicolons. */
    protectedFilePatterns: text().notNull().default(''),
    unprotectedFilePatterns: text().notNull().default(''),
    blockAdminMergeOverride: boolean().notNull().default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('branch_protections_name_key').on(table.repositoryId, table.ruleName),
    check('branch_protections_name_length', sql`char_length(rule_name) between 1 and 255`),
    check('branch_protections_approvals', sql`required_approvals >= 0`),
  ],
)
export type BranchProtectionRow = typeof branchProtections.$inferSelect

export const branchProtectionPeople = pgTable(
  'branch_protection_people',
  {
    protectionId: reference()
      .notNull()
      .references(() => branchProtections.id, { onDelete: 'cascade' }),
    list: text({ enum: protectionLists }).notNull(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.protectionId, table.list, table.userId] }),
    index('branch_protection_people_user_idx').on(table.userId),
  ],
)

export const branchProtectionTeams = pgTable(
  'branch_protection_teams',
  {
    protectionId: reference()
      .notNull()
      .references(() => branchProtections.id, { onDelete: 'cascade' }),
    list: text({ enum: protectionLists }).notNull(),
    teamId: reference()
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.protectionId, table.list, table.teamId] }),
    index('branch_protection_teams_team_idx').on(table.teamId),
  ],
)

/** Rules for tags: who may make, move and delete those whose name fits. */
export const tagProtections = pgTable(
  'tag_protections',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** A tag, a glob of tags, or an expression between slashes. */
    namePattern: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('tag_protections_pattern_key').on(table.repositoryId, table.namePattern),
    check('tag_protections_pattern_length', sql`char_length(name_pattern) between 1 and 255`),
  ],
)
export type TagProtectionRow = typeof tagProtections.$inferSelect

export const tagProtectionPeople = pgTable(
  'tag_protection_people',
  {
    protectionId: reference()
      .notNull()
      .references(() => tagProtections.id, { onDelete: 'cascade' }),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.protectionId, table.userId] }),
    index('tag_protection_people_user_idx').on(table.userId),
  ],
)

export const tagProtectionTeams = pgTable(
  'tag_protection_teams',
  {
    protectionId: reference()
      .notNull()
      .references(() => tagProtections.id, { onDelete: 'cascade' }),
    teamId: reference()
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.protectionId, table.teamId] }),
    index('tag_protection_teams_team_idx').on(table.teamId),
  ],
)
