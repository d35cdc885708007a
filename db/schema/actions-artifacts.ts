import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { actionsRuns } from './actions.ts'
import { createdAt, id, instant, reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'

/**
 * - uploading: its job sends it, nobody else sees it
 * - finalized: whole, and never changed again
 * - expired: its bytes are gone
 */
export const actionsArtifactStates = ['uploading', 'finalized', 'expired'] as const

/**
 * Files that jobs leave behind. The bytes are in the object store; they are there before the row names them. Where a row stops to name an
 * object, whatever the cause, a trigger notes the key in `removed_objects`. Triggers count `held_bytes` in `repository_counters`.
 */
export const actionsArtifacts = pgTable(
  'actions_artifacts',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    runId: reference()
      .notNull()
      .references(() => actionsRuns.id, { onDelete: 'cascade' }),
    runAttempt: integer().notNull(),
    jobId: reference().notNull(),
    /** The attempt of a runner that sends it: nobody else may. */
    taskId: reference().notNull(),
    name: text().notNull(),
    /** A zip of files; otherwise one file as it is. */
    isArchive: boolean().notNull().default(true),
    state: text({ enum: actionsArtifactStates }).notNull(),
    /** What of it is in the object store, blocks included. */
    heldBytes: bigint({ mode: 'number' }).notNull().default(0),
    /** Null until its blocks are one object. */
    storeKey: text(),
    sizeBytes: bigint({ mode: 'number' }),
    sha256: text(),
    /** SHA-256 of the list of blocks that it was made of, so that the same list sent again is known. */
    blockListHash: text(),
    expiresAt: instant().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('actions_artifacts_name_key').on(table.runId, table.runAttempt, table.name),
    uniqueIndex('actions_artifacts_store_key').on(table.storeKey),
    index('actions_artifacts_run_idx').on(table.runId, table.id),
    index('actions_artifacts_repository_idx').on(table.repositoryId, table.id),
    index('actions_artifacts_repository_name_idx').on(table.repositoryId, table.name, table.id),
    index('actions_artifacts_expiry_idx').on(table.expiresAt).where(sql`state = 'finalized'`),
    index('actions_artifacts_uploading_idx').on(table.id).where(sql`state = 'uploading'`),
    check('actions_artifacts_whole', sql`(store_key is null) or (size_bytes is not null and sha256 is not null)`),
    check('actions_artifacts_finalized', sql`state <> 'finalized' or store_key is not null`),
    check('actions_artifacts_expired', sql`state <> 'expired' or (store_key is null and held_bytes = 0)`),
    check('actions_artifacts_sizes', sql`held_bytes >= 0 and size_bytes >= 0`),
  ],
)
export type ActionsArtifactRow = typeof actionsArtifacts.$inferSelect

/** Pieces of an artifact that is being sent. They go when they are made one object. */
export const actionsArtifactBlocks = pgTable(
  'actions_artifact_blocks',
  {
    artifactId: reference()
      .notNull()
      .references(() => actionsArtifacts.id, { onDelete: 'cascade' }),
    /** As the client names it. */
    blockId: text().notNull(),
    storeKey: text().notNull(),
    sizeBytes: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.artifactId, table.blockId] }),
    uniqueIndex('actions_artifact_blocks_store_key').on(table.storeKey),
  ],
)
