import { bigint, bigserial, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/**
 * Who changed what, written in the transaction of the change. Append-only: a trigger refuses UPDATE and DELETE. The migration makes
 * the table partitioned by month, so that the past leaves by dropping partitions; names stand beside ids, because an entry outlives
 * the rows that it names.
 */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: bigserial({ mode: 'number' }).notNull(),
    createdAt: instant().notNull().defaultNow(),
    /** Whose rights counted; null for the service itself. */
    actorId: bigint({ mode: 'number' }),
    actorName: text().notNull().default(''),
    /** The administrator behind a sudo request. */
    sudoerId: bigint({ mode: 'number' }),
    sudoerName: text().notNull().default(''),
    /** How the actor signed in: `password`, `token`, `oauth`, `session`; or `system`, `command line`. */
    method: text().notNull(),
    tokenId: bigint({ mode: 'number' }),
    address: text().notNull().default(''),
    /** Method and path, without the query. */
    route: text().notNull().default(''),
    requestId: text().notNull().default(''),
    /** As `user.edit`: what kind of thing, and what was done to it. */
    action: text().notNull(),
    subjectKind: text().notNull(),
    subjectId: bigint({ mode: 'number' }),
    subjectName: text().notNull().default(''),
    /** Field to `[before, after]`; secrets are never among them. */
    changes: jsonb().$type<Record<string, [unknown, unknown]>>().notNull().default({}),
  },
  (table) => [
    primaryKey({ columns: [table.createdAt, table.id] }),
    index('audit_entries_id_idx').on(table.id),
    index('audit_entries_actor_idx').on(table.actorId, table.id),
    index('audit_entries_sudoer_idx').on(table.sudoerId, table.id),
    index('audit_entries_subject_idx').on(table.subjectKind, table.subjectId, table.id),
    index('audit_entries_action_idx').on(table.action, table.id),
  ],
)
export type AuditRow = typeof auditEntries.$inferSelect
