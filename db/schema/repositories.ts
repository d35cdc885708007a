import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { createdAt, id, instant, reference, updatedAt } from './columns.ts'
import { users, visibilities } from './users.ts'

export const objectFormats = ['sha1', 'sha256'] as const
export type ObjectFormat = (typeof objectFormats)[number]

export const trustModels = ['default', 'collaborator', 'committer', 'collaboratorcommitter'] as const
export type TrustModel = (typeof trustModels)[number]

export interface ExternalTrackerSettings {
  url: string
  format: string
  style: string
  regexpPattern: string
}

/**
 * A repository. Its folder is named by `id` alone (see src/git), so renames and transfers never touch the disk,
 * and a row exists only once its folder is whole (see features/repository-creation/create.ts).
 */
export const repositories = pgTable(
  'repositories',
  {
    id: id(),
    ownerId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'restrict' }),
    name: text().notNull(),
    lowerName: text().notNull().generatedAlwaysAs(sql`lower(name)`),
    description: text().notNull().default(''),
    website: text().notNull().default(''),
    originalUrl: text().notNull().default(''),
    defaultBranch: text().notNull().default('main'),
    objectFormat: text({ enum: objectFormats }).notNull().default('sha1'),
    trustModel: text({ enum: trustModels }).notNull().default('default'),
    isPrivate: boolean().notNull().default(false),
    isTemplate: boolean().notNull().default(false),
    isArchived: boolean().notNull().default(false),
    archivedAt: instant(),
    isMirror: boolean().notNull().default(false),
    /** Of mirrors; 0: not by the clock. What else is known of a mirror stands in `pull_mirrors`. */
    mirrorIntervalSeconds: integer(),
    mirrorUpdatedAt: instant(),
    isFork: boolean().notNull().default(false),
    parentId: reference().references((): AnyPgColumn => repositories.id, { onDelete: 'set null' }),
    isEmpty: boolean().notNull().default(true),
    avatar: text().notNull().default(''),

    language: text().notNull().default(''),
    topics: text().array().notNull().default(sql`'{}'::text[]`),
    licenses: text().array().notNull().default(sql`'{}'::text[]`),

    hasCode: boolean().notNull().default(true),
    hasIssues: boolean().notNull().default(true),
    hasWiki: boolean().notNull().default(true),
    hasPullRequests: boolean().notNull().default(true),
    hasProjects: boolean().notNull().default(true),
    projectsMode: text({ enum: ['repo', 'owner', 'all'] })
      .notNull()
      .default('all'),
    hasReleases: boolean().notNull().default(true),
    hasPackages: boolean().notNull().default(true),
    hasActions: boolean().notNull().default(true),
    externalTracker: jsonb().$type<ExternalTrackerSettings>(),
    externalWikiUrl: text(),
    enableTimeTracker: boolean().notNull().default(true),
    allowOnlyContributorsToTrackTime: boolean().notNull().default(true),
    enableIssueDependencies: boolean().notNull().default(true),

    ignoreWhitespaceConflicts: boolean().notNull().default(false),
    allowMergeCommits: boolean().notNull().default(true),
    allowRebase: boolean().notNull().default(true),
    allowRebaseExplicit: boolean().notNull().default(true),
    allowSquashMerge: boolean().notNull().default(true),
    allowFastForwardOnlyMerge: boolean().notNull().default(true),
    allowMergeUpdate: boolean().notNull().default(true),
    allowRebaseUpdate: boolean().notNull().default(true),
    allowManualMerge: boolean().notNull().default(false),
    autodetectManualMerge: boolean().notNull().default(false),
    defaultDeleteBranchAfterMerge: boolean().notNull().default(false),
    defaultMergeStyle: text().notNull().default('merge'),
    defaultUpdateStyle: text().notNull().default('merge'),
    /** What pull requests are made for unless they say otherwise; empty: the default branch. */
    defaultTargetBranch: text().notNull().default(''),
    defaultAllowMaintainerEdit: boolean().notNull().default(true),

    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('repositories_owner_name_key').on(table.ownerId, table.lowerName),
    index('repositories_lower_name_idx').on(table.lowerName, table.id),
    index('repositories_updated_idx').on(table.updatedAt, table.id),
    index('repositories_created_idx').on(table.createdAt, table.id),
    index('repositories_parent_idx').on(table.parentId),
    uniqueIndex('repositories_fork_key').on(table.ownerId, table.parentId).where(sql`parent_id is not null`),
    index('repositories_private_idx').on(table.ownerId).where(sql`is_private`),
    index('repositories_open_idx').on(table.lowerName, table.id).where(sql`not is_private`),
    index('repositories_topics_idx').using('gin', table.topics),
    index('repositories_name_search_idx').using('gin', sql`${table.lowerName} gin_trgm_ops`),
    index('repositories_description_search_idx').using('gin', sql`lower(${table.description}) gin_trgm_ops`),
    check('repositories_name_length', sql`char_length(name) between 1 and 100`),
    check('repositories_description_length', sql`char_length(description) <= 2048`),
  ],
)
export type RepositoryRow = typeof repositories.$inferSelect
export type NewRepository = typeof repositories.$inferInsert

/**
 * The numbers of a repository that others change all the time, beside the row that its owner changes: who stars it or writes an
 * issue waits for nobody who pushes or edits settings. A trigger makes and removes the row together with the repository, and triggers
 * keep every count (db/README.md): nothing else writes to those columns.
 */
export const repositoryCounters = pgTable(
  'repository_counters',
  {
    /** Without a foreign key: the row goes last, behind everything that is counted in it. */
    repositoryId: reference().primaryKey(),
    starsCount: integer().notNull().default(0),
    forksCount: integer().notNull().default(0),
    watchersCount: integer().notNull().default(0),
    branchCount: integer().notNull().default(0),
    releasesCount: integer().notNull().default(0),
    openIssuesCount: integer().notNull().default(0),
    openPullsCount: integer().notNull().default(0),
    /** The last number given to an issue or pull request; the next one takes it under this row's lock. */
    lastIssueNumber: integer().notNull().default(0),
    /** The same for runs of workflows. */
    lastRunNumber: integer().notNull().default(0),
    /** Bytes on disk, as last measured. */
    sizeBytes: bigint({ mode: 'number' }).notNull().default(0),
    /** Bytes of its objects of Git LFS, also of those that other repositories have. */
    lfsBytes: bigint({ mode: 'number' }).notNull().default(0),
    totalBytes: bigint({ mode: 'number' }).notNull().generatedAlwaysAs(sql`size_bytes + lfs_bytes`),
    /** Bytes of the files of its releases, issues and comments. */
    attachmentBytes: bigint({ mode: 'number' }).notNull().default(0),
    /** Bytes of the artifacts of its runs, unfinished ones included. */
    artifactBytes: bigint({ mode: 'number' }).notNull().default(0),
    /** Grows with every comparison of the rows in `refs` with the disk: see features/refs/README.md. */
    refsGeneration: bigint({ mode: 'number' }).notNull().default(0),
  },
  (table) => [
    index('repository_counters_stars_idx').on(table.starsCount, table.repositoryId),
    index('repository_counters_forks_idx').on(table.forksCount, table.repositoryId),
    index('repository_counters_size_idx').on(table.sizeBytes, table.repositoryId),
    index('repository_counters_lfs_idx').on(table.lfsBytes, table.repositoryId),
    index('repository_counters_total_idx').on(table.totalBytes, table.repositoryId),
  ],
)
export type RepositoryCountersRow = typeof repositoryCounters.$inferSelect

/**
 * Ids whose folders are being built. The creating transaction deletes its row first and inserts the repository last, so a row
 * that can be locked belongs to a creation that did not end: its folder, if there is one, belongs to nobody.
 */
export const repositoryReservations = pgTable('repository_reservations', {
  id: bigint({ mode: 'number' }).primaryKey().default(sql`nextval('repositories_id_seq')`),
  createdAt: createdAt(),
})

/**
 * How many repositories there are of each sort, as changes to be summed up: triggers append them, so that writers never wait for
 * each other, and a periodic task rolls them together. Exact within any snapshot.
 */
export const repositoryTotals = pgTable('repository_totals', {
  ownerVisibility: text({ enum: visibilities }).notNull(),
  isPrivate: boolean().notNull(),
  isArchived: boolean().notNull(),
  isTemplate: boolean().notNull(),
  isFork: boolean().notNull(),
  isMirror: boolean().notNull(),
  repositories: bigint({ mode: 'number' }).notNull(),
})

/** Every topic that some repository has had; which repositories have it stands in `repositories.topics`. */
export const topics = pgTable(
  'topics',
  {
    id: id(),
    name: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('topics_name_key').on(table.name),
    index('topics_search_idx').using('gin', sql`${table.name} gin_trgm_ops`),
  ],
)
export type TopicRow = typeof topics.$inferSelect

/** Old names of repositories; the next repository of that owner and name ends the redirect. */
export const repositoryRedirects = pgTable(
  'repository_redirects',
  {
    ownerId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    lowerName: text().notNull(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.ownerId, table.lowerName] }),
    index('repository_redirects_repository_idx').on(table.repositoryId),
  ],
)

export const collaborations = pgTable(
  'collaborations',
  {
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    permission: text({ enum: ['read', 'write', 'admin'] })
      .notNull()
      .default('write'),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.userId] }),
    index('collaborations_user_idx').on(table.userId, table.repositoryId),
  ],
)

export const stars = pgTable(
  'stars',
  {
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.repositoryId] }),
    index('stars_repository_idx').on(table.repositoryId, table.createdAt, table.userId),
  ],
)

export const watches = pgTable(
  'watches',
  {
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** False: the person asked not to be notified, although something else would subscribe them. */
    isSubscribed: boolean().notNull().default(true),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.repositoryId] }),
    index('watches_repository_idx').on(table.repositoryId, table.createdAt, table.userId),
  ],
)

/** Bytes of each language on the default branch, as last counted. */
export const repositoryLanguages = pgTable(
  'repository_languages',
  {
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    language: text().notNull(),
    bytes: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.repositoryId, table.language] })],
)
