import { sql } from 'drizzle-orm'
import { bigint, check, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, reference } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** Contents of Git LFS, each one once, however many repositories have it. A row says that the whole content is in the object store. */
export const lfsObjects = pgTable(
  'lfs_objects',
  {
    id: id(),
    /** SHA-256 of the content, hexadecimal. */
    oid: text().notNull(),
    sizeBytes: bigint({ mode: 'number' }).notNull(),
    /** In the object store. Another one for each upload, so that what removes an object never meets another upload of it. */
    storeKey: text().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('lfs_objects_oid_key').on(table.oid),
    uniqueIndex('lfs_objects_store_key').on(table.storeKey),
    check('lfs_objects_oid', sql`oid ~ '^[0-9a-f]{64}$'`),
    check('lfs_objects_size', sql`size_bytes >= 0`),
  ],
)
export type LfsObjectRow = typeof lfsObjects.$inferSelect

/** Which repository has which content: who may read the repository may read it. Triggers count the bytes in `repository_counters`. */
export const repositoryLfsObjects = pgTable(
  'repository_lfs_objects',
  {
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    objectId: reference()
      .notNull()
      .references(() => lfsObjects.id, { onDelete: 'restrict' }),
    /** When a client last heard that it need not be sent again: it stays for the push that may follow. */
    usedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.objectId] }),
    index('repository_lfs_objects_object_idx').on(table.objectId),
    index('repository_lfs_objects_used_idx').on(table.repositoryId, table.usedAt),
  ],
)

/** Files that a person has asked the others not to change. */
export const lfsLocks = pgTable(
  'lfs_locks',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    ownerId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    path: text().notNull(),
    lockedAt: instant().notNull(),
  },
  (table) => [
    uniqueIndex('lfs_locks_path_key').on(table.repositoryId, table.path),
    index('lfs_locks_list_idx').on(table.repositoryId, table.id),
    index('lfs_locks_owner_idx').on(table.ownerId),
  ],
)
export type LfsLockRow = typeof lfsLocks.$inferSelect
