import { sql } from 'drizzle-orm'
import { boolean, check, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, updatedAt } from './columns.ts'

/**
 * Whether somebody may get an account by signing in at a source: `site` as ALLOW_REGISTRATION says, `automatic` always, `ask` after
 * they chose a name, `closed` never.
 */
export const sourceRegistrations = ['site', 'automatic', 'ask', 'closed'] as const
export type SourceRegistration = (typeof sourceRegistrations)[number]

/** Providers of OpenID Connect that people sign in by. The command line keeps them. */
export const authSources = pgTable(
  'auth_sources',
  {
    id: id(),
    /** Part of the address that the provider sends people back to, so it stays as it is. */
    name: text().notNull(),
    /** What people see. */
    label: text().notNull(),
    issuer: text().notNull(),
    clientId: text().notNull(),
    /** Sealed; null for a public client. */
    clientSecret: bytes(),
    scopes: text().array().notNull(),
    isActive: boolean().notNull().default(true),
    registration: text({ enum: sourceRegistrations }).notNull().default('site'),
    /** A claim that must be there for anybody to come in; null for none. */
    requiredClaim: text(),
    /** What it must be, or hold; null for anything. */
    requiredValue: text(),
    /** The claim that names the groups of a person; null for none. */
    groupClaim: text(),
    /** Whether people leave the teams of their groups when they are in none of them any more. */
    removesFromTeams: boolean().notNull().default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('auth_sources_name_key').on(sql`lower(${table.name})`),
    check('auth_sources_name_form', sql`name ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$'`),
    check('auth_sources_label_length', sql`char_length(label) between 1 and 100`),
    check('auth_sources_required', sql`required_claim is not null or required_value is null`),
  ],
)
export type AuthSourceRow = typeof authSources.$inferSelect
