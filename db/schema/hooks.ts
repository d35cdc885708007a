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

/** `site` hooks get every event, `default` ones are copied into new repositories. */
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
    /** As it is shown: without user, password and values of the query. */
    url: text().notNull(),
    /** The whole address, sealed as `secret` is. Null in rows of older versions, until a start seals them. */
    sealedUrl: bytes(),
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
    /** Since when no delivery has succeeded; null while they do. */
    failingSince: instant(),
    /** A target that failed for days is sent nothing more until a person resumes it. */
    pausedAt: instant(),
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
  /** Its beginning. */
  body: string
  isCut: boolean
}

/**
 * - waiting: not sent yet, or to be tried again
 * - delivered: the receiver answered 2xx
 * - failed: refused for good, or tried for a day
 */
export const deliveryStates = ['waiting', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** One delivery of one event to one hook, and its result. */
export const hookDeliveries = pgTable(
  'hook_deliveries',
  {
    id: id(),
    hookId: reference()
      .notNull()
      .references(() => hooks.id, { onDelete: 'cascade' }),
    /** Sent along, so that receivers notice repetitions. */
    uuid: uuid().notNull().defaultRandom(),
    /** Its event; null for a test and for one that a person repeats. */
    eventId: bigint({ mode: 'number' }),
    /** Several deliveries may belong to one event: their order, from 0. */
    part: integer().notNull().default(0),
    /** Gitea's word, such as `push` or `issue_label`. */
    eventType: text().notNull(),
    /** Deliveries of one hook for one subject, such as a ref or an issue, keep their order. Empty: they need none. */
    subject: text().notNull().default(''),
    /** The JSON text that is sent and signed. */
    payload: text().notNull(),
    state: text({ enum: deliveryStates }).notNull().default('waiting'),
    attempts: integer().notNull().default(0),
    /** Not sent before. */
    nextAttemptAt: instant().notNull().defaultNow(),
    /** Of the last attempt. Without secrets: headers that carry one are left out. */
    request: jsonb().$type<DeliveryRequest>(),
    response: jsonb().$type<DeliveryResponse>(),
    /** Why there is no response. */
    error: text(),
    /** From the start of the last attempt to the end of its answer. */
    durationMs: integer(),
    /** When the last attempt ended. */
    attemptedAt: instant(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('hook_deliveries_uuid_key').on(table.uuid),
    uniqueIndex('hook_deliveries_event_key')
      .on(table.hookId, table.eventId, table.part)
      .where(sql`event_id is not null`),
    index('hook_deliveries_hook_idx').on(table.hookId, table.id),
    index('hook_deliveries_waiting_idx').on(table.hookId, table.subject, table.id).where(sql`state = 'waiting'`),
    index('hook_deliveries_due_idx').on(table.hookId, table.nextAttemptAt, table.id).where(sql`state = 'waiting'`),
    index('hook_deliveries_created_idx').on(table.createdAt),
  ],
)
export type HookDeliveryRow = typeof hookDeliveries.$inferSelect
export type NewHookDelivery = typeof hookDeliveries.$inferInsert
