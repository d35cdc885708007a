import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, reference } from './columns.ts'
import { repositories } from './repositories.ts'

/** What both kinds know of the other server, and of their last tries. */
const remote = () => ({
  /** http, https or git, without user and password. */
  url: text().notNull(),
  /** Sealed: user name and password as JSON. */
  credentials: bytes(),
  /** When it is tried next; null: only when somebody asks. */
  nextAt: instant(),
  attemptedAt: instant(),
  /** Why the last try failed; empty when it did not. */
  lastError: text().notNull().default(''),
  /** In a row, up to now. */
  failures: integer().notNull().default(0),
})

/**
 * Repositories whose branches and tags come from another server: mirrors, again and again (`repositories.is_mirror`); others once, and
 * their row goes when the copy is whole.
 */
export const pullMirrors = pgTable(
  'pull_mirrors',
  {
    repositoryId: reference()
      .primaryKey()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    ...remote(),
    /** Whether branches and tags that are gone there go here too. */
    prunes: boolean().notNull().default(true),
    createdAt: createdAt(),
  },
  (table) => [index('pull_mirrors_next_idx').on(table.nextAt).where(sql`next_at is not null`)],
)
export type PullMirrorRow = typeof pullMirrors.$inferSelect

/** Servers that a repository's branches and tags are pushed to. */
export const pushMirrors = pgTable(
  'push_mirrors',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** What clients name it by. */
    remoteName: text().notNull(),
    ...remote(),
    /** 0: not by the clock. */
    intervalSeconds: integer().notNull(),
    syncsOnCommit: boolean().notNull(),
    lastUpdateAt: instant(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('push_mirrors_name_key').on(table.repositoryId, table.remoteName),
    index('push_mirrors_next_idx').on(table.nextAt).where(sql`next_at is not null`),
  ],
)
export type PushMirrorRow = typeof pushMirrors.$inferSelect
