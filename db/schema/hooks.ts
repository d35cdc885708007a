import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

export const hookTypes = [
  'gitea',
  'gogs',
  'slack',
  'discord',
  'dingtalk',
  'telegram',
  'msteams',
  'feishu',
  'wechatwork',
  'packagist',
  'matrix',
] as const
export type HookType = (typeof hookTypes)[number]

/** `site` hooks hear of everything, `default` ones are copied into new repositories. */
export const hookScopes = ['site', 'default', 'owner', 'repository'] as const
export type HookScope = (typeof hookScopes)[number]

export const hooks = pgTable(
  'hooks',
  {
    id: id(),
    scope: text({ enum: hookScopes }).notNull(),
    /** The person or organization whose repositories it is about. */
    ownerId: reference().references(() => users.id, { onDelete: 'cascade' }),
    repositoryId: reference().references(() => repositories.id, { onDelete: 'cascade' }),
    type: text({ enum: hookTypes }).notNull(),
    name: text().notNull().default(''),
    url: text().notNull(),
    contentType: text({ enum: ['json', 'form'] }).notNull(),
    httpMethod: text({ enum: ['POST', 'PUT', 'GET'] })
      .notNull()
      .default('POST'),
    /** What the type needs beside the address, such as a channel. */
    settings: jsonb().$type<Record<string, string>>().notNull().default({}),
    /** Sealed with the instance's key: the database alone gives none of them away. */
    secret: bytes(),
    authorizationHeader: bytes(),
    events: text().array().notNull(),
    /** A glob over branch names; empty means every branch. */
    branchFilter: text().notNull().default(''),
    isActive: boolean().notNull().default(false),
    /** The default hook that this one was made from, so that a repository gets it once. */
    copiedFromId: reference(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('hooks_copy_key').on(table.repositoryId, table.copiedFromId).where(sql`copied_from_id is not null`),
    index('hooks_repository_idx').on(table.repositoryId, table.id),
    index('hooks_owner_idx').on(table.ownerId, table.id),
    index('hooks_site_idx').on(table.scope, table.id).where(sql`scope in ('site', 'default')`),
    check(
      'hooks_one_parent',
      sql`(scope = 'repository') = (repository_id is not null) and (scope = 'owner') = (owner_id is not null)`,
    ),
    check('hooks_branch_filter_length', sql`char_length(branch_filter) <= 256`),
  ],
)
export type HookRow = typeof hooks.$inferSelect
export type NewHook = typeof hooks.$inferInsert

export interface DeliveryRequest {
  url: string
  method: string
  headers: Record<string, string>
}

export interface DeliveryResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** One try to tell a hook of an event: what was sent and what came back. */
export const hookDeliveries = pgTable(
  'hook_deliveries',
  {
    id: id(),
    hookId: reference()
      .notNull()
      .references(() => hooks.id, { onDelete: 'cascade' }),
    /** Sent along, so that receivers can tell repetitions. */
    uuid: uuid().notNull().defaultRandom(),
    /** The event it tells of; null for a test. */
    eventId: bigint({ mode: 'number' }),
    /** The family's word, such as `push`. */
    eventType: text().notNull(),
    payload: text().notNull(),
    /** Without secrets: headers that carry one are left out. */
    request: jsonb().$type<DeliveryRequest>(),
    response: jsonb().$type<DeliveryResponse>(),
    /** Why there is no response. */
    error: text(),
    attempts: integer().notNull().default(0),
    isSucceeded: boolean().notNull().default(false),
    /** Null until an answer came or the last attempt failed. */
    deliveredAt: instant(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('hook_deliveries_uuid_key').on(table.uuid),
    uniqueIndex('hook_deliveries_event_key')
      .on(table.hookId, table.eventId, table.eventType)
      .where(sql`event_id is not null`),
    index('hook_deliveries_hook_idx').on(table.hookId, table.id),
    index('hook_deliveries_created_idx').on(table.createdAt),
  ],
)
export type HookDeliveryRow = typeof hookDeliveries.$inferSelect
