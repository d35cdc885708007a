import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

export const permissionWords = ['none', 'read', 'write', 'admin', 'owner'] as const
export type PermissionWord = (typeof permissionWords)[number]

export const teams = pgTable(
  'teams',
  {
    id: id(),
    organizationId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    lowerName: text().notNull().generatedAlwaysAs(sql`lower(name)`),
    description: text().notNull().default(''),
    /** `none` means the units decide; `admin` and `owner` reach every unit. */
    permission: text({ enum: permissionWords }).notNull().default('none'),
    visibility: text({ enum: ['public', 'limited', 'private'] })
      .notNull()
      .default('public'),
    includesAllRepositories: boolean().notNull().default(false),
    canCreateOrgRepo: boolean().notNull().default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('teams_organization_name_key').on(table.organizationId, table.lowerName),
    /** One team of owners per organization. */
    uniqueIndex('teams_owners_key').on(table.organizationId).where(sql`permission = 'owner'`),
  ],
)
export type TeamRow = typeof teams.$inferSelect

export const teamUnits = pgTable(
  'team_units',
  {
    teamId: reference()
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    /** A unit name of src/access/units.ts, such as `repo.code`. */
    unit: text().notNull(),
    permission: text({ enum: permissionWords }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.unit] })],
)

export const teamMembers = pgTable(
  'team_members',
  {
    teamId: reference()
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    organizationId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.userId] }),
    index('team_members_user_idx').on(table.userId, table.organizationId),
    index('team_members_organization_idx').on(table.organizationId),
  ],
)

export const teamRepositories = pgTable(
  'team_repositories',
  {
    teamId: reference()
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.repositoryId] }),
    index('team_repositories_repository_idx').on(table.repositoryId, table.teamId),
  ],
)

/** Who belongs to an organization: one row however many of its teams the person is in. */
export const organizationMembers = pgTable(
  'organization_members',
  {
    organizationId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    isPublic: boolean().notNull().default(false),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.userId] }),
    index('organization_members_user_idx').on(table.userId, table.organizationId),
    check('organization_members_not_self', sql`organization_id <> user_id`),
  ],
)
