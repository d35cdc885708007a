import { bigint, boolean, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, reference } from './columns.ts'
import { releases } from './releases.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** What a migrated repository takes over of the other server beside its branches and tags. They come first: see `pull_mirrors`. */
export const migrations = pgTable(
  'migrations',
  {
    repositoryId: reference()
      .primaryKey()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** As the caller named the kind of server. */
    service: text().notNull(),
    /** The repository in the API of the other server, without user and password. */
    apiUrl: text().notNull(),
    /** Sealed: user name and password as JSON. Null without any, and once nothing is fetched any more. */
    credentials: bytes(),
    /** Who asked for it: stands for every author. */
    doerId: reference().references(() => users.id, { onDelete: 'set null' }),
    /** The id of the account there that the credentials belong to: what it wrote is the doer's own. Null: not known. */
    doerIdThere: bigint({ mode: 'number' }),
    /** What was asked for and is not carried over, one sentence each. */
    notCarried: text().array().notNull().default([]),
    /** Whether the unit of issues is switched on at the end. */
    opensIssues: boolean().notNull().default(false),
    /** When it was asked for, the last time. */
    startedAt: instant().notNull(),
    attemptedAt: instant(),
    /** Since when the other server is known to answer. */
    greetedAt: instant(),
    /** Null: only when somebody asks, or at once. */
    nextAt: instant(),
    lastError: text().notNull().default(''),
    /** In a row, without a page between them. */
    failures: integer().notNull().default(0),
    endedAt: instant(),
    createdAt: createdAt(),
  },
  (table) => [index('migrations_doer_idx').on(table.doerId)],
)
export type MigrationRow = typeof migrations.$inferSelect

/**
 * How far each part is. Not all have pages of this kind: the wiki is a Git repository, and counts its branches and tags; files of
 * releases are in `migration_files`, and each is a page.
 */
export const migrationParts = pgTable(
  'migration_parts',
  {
    repositoryId: reference()
      .notNull()
      .references(() => migrations.repositoryId, { onDelete: 'cascade' }),
    name: text({ enum: ['labels', 'milestones', 'issues', 'comments', 'releases', 'release_files', 'wiki'] }).notNull(),
    /** Their order. */
    place: integer().notNull(),
    /** The page to ask for next; it is raised in the transaction that writes the rows of the page before. */
    page: integer().notNull().default(1),
    /** What the last page consisted of: a server that gives the same one again has no more. */
    digest: text().notNull().default(''),
    /** How many there are, as the other server says. */
    total: integer(),
    seen: integer().notNull().default(0),
    carried: integer().notNull().default(0),
    endedAt: instant(),
  },
  (table) => [primaryKey({ columns: [table.repositoryId, table.name] })],
)
export type MigrationPartRow = typeof migrationParts.$inferSelect
export type PartName = MigrationPartRow['name']

/** What has come by its id on the other server, so that nothing comes twice. Of issues that is the number; releases have their tag for it. */
export const migrationItems = pgTable(
  'migration_items',
  {
    repositoryId: reference()
      .notNull()
      .references(() => migrations.repositoryId, { onDelete: 'cascade' }),
    part: text({ enum: ['labels', 'milestones', 'issues', 'comments'] }).notNull(),
    idThere: bigint({ mode: 'number' }).notNull(),
    /** Its id here; null where nothing refers to it. */
    idHere: bigint({ mode: 'number' }),
  },
  (table) => [primaryKey({ columns: [table.repositoryId, table.part, table.idThere] })],
)

/** Files of releases that are still to come, and those that do not come. One that is here has no row any more. */
export const migrationFiles = pgTable(
  'migration_files',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => migrations.repositoryId, { onDelete: 'cascade' }),
    releaseId: reference()
      .notNull()
      .references(() => releases.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** Where it lies. The other server names it: it may lead anywhere. */
    url: text().notNull(),
    /** As the other server says. */
    size: bigint({ mode: 'number' }).notNull(),
    downloadCount: bigint({ mode: 'number' }).notNull(),
    createdAt: instant().notNull(),
    /** Tries that broke off. */
    tries: integer().notNull().default(0),
    /** Why it does not come. */
    fault: text({ enum: ['name', 'large', 'many', 'address', 'missing', 'other', 'broken', 'off', 'full'] }),
  },
  (table) => [
    index('migration_files_open_idx').on(table.repositoryId, table.fault, table.id),
    index('migration_files_release_idx').on(table.releaseId),
  ],
)
export type MigrationFileRow = typeof migrationFiles.$inferSelect
export type FileFault = NonNullable<MigrationFileRow['fault']>
