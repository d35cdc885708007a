import { boolean, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** The commit at the tip of a branch, stored beside the ref so that lists need no git process. */
export interface TipCommit {
  message: string
  authorName: string
  authorEmail: string
  authoredAt: string
  committerName: string
  committerEmail: string
  committedAt: string
  /** The armored signature and what it was made over, when the commit carries one that is short enough. */
  signature?: { text: string; payload: string; rawPayload?: string; isAmbiguous?: boolean }
}

/**
 * Branches and tags as rows: a mirror of the refs on disk, which are the truth. features/refs/sync.ts keeps them equal.
 */
export const refs = pgTable(
  'refs',
  {
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    kind: text({ enum: ['branch', 'tag'] }).notNull(),
    /** Without `refs/heads/` or `refs/tags/`. */
    name: text().notNull(),
    /** The object that the ref names: a commit, or an annotated tag. */
    sha: text().notNull(),
    commit: jsonb().$type<TipCommit>(),
    committedAt: instant(),
    pusherId: reference().references(() => users.id, { onDelete: 'set null' }),
    updatedAt: updatedAt(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.kind, table.name] }),
    index('refs_newest_idx').on(table.repositoryId, table.kind, table.committedAt.desc().nullsLast(), table.name),
    index('refs_pusher_idx').on(table.pusherId),
  ],
)
export type RefRow = typeof refs.$inferSelect

/** Pushes under way. A row left behind by a crash says which repository's rows must be compared with its refs again. */
export const pushes = pgTable(
  'pushes',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    pusherId: reference().references(() => users.id, { onDelete: 'cascade' }),
    /** Branches and tags that it may make. They count as if they were there until their rows are. */
    newRefs: integer().notNull().default(0),
    /** To the repository of the wiki, which has no rows in `refs`. */
    isWiki: boolean().notNull().default(false),
    createdAt: createdAt(),
  },
  (table) => [index('pushes_repository_idx').on(table.repositoryId), index('pushes_created_idx').on(table.createdAt)],
)
