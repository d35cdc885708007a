import { sql } from 'drizzle-orm'
import { bigint, index, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, id, instant } from './columns.ts'

/**
 * What happened, written in the transaction that made it happen. The ids are history and have no foreign keys: an event
 * outlives the rows it names, so that webhooks still get a push when the repository is deleted a moment later.
 */
export const events = pgTable(
  'events',
  {
    id: id(),
    kind: text().notNull(),
    /** Who did it; null for the service itself. */
    actorId: bigint({ mode: 'number' }),
    repositoryId: bigint({ mode: 'number' }),
    /** The user or organization it belongs to: the repository's owner, or the subject itself. */
    ownerId: bigint({ mode: 'number' }),
    payload: jsonb().$type<unknown>().notNull(),
    createdAt: createdAt(),
    /** When its reactions were enqueued. Null: it waits in this table, which is the outbox. */
    fannedOutAt: instant(),
  },
  (table) => [
    index('events_created_idx').on(table.createdAt),
    /** What a deleted repository was, for events that are delivered after it. */
    index('events_repository_deleted_idx').on(table.repositoryId).where(sql`kind = 'repository.deleted'`),
    index('events_waiting_idx').on(table.id).where(sql`fanned_out_at is null`),
  ],
)
export type EventRow = typeof events.$inferSelect
