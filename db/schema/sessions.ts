import { boolean, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, reference } from './columns.ts'
import { users } from './users.ts'

/** How somebody has shown who they are when a session began. */
export const signInMethods = ['password', 'two_factor', 'passkey', 'provider'] as const
export type SignInMethod = (typeof signInMethods)[number]

/** Browsers that somebody is signed in with. The secret is in the cookie alone; its SHA-256 is stored and looked up. */
export const sessions = pgTable(
  'sessions',
  {
    id: id(),
    userId: reference()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    secretHash: text().notNull(),
    method: text({ enum: signInMethods }).notNull(),
    /** When the person last showed who they are: `auth_time` of OpenID Connect. */
    authenticatedAt: instant().notNull(),
    lastSeenAt: instant().notNull(),
    /** Where it was last seen, as its owner is shown. */
    address: text().notNull().default(''),
    userAgent: text().notNull().default(''),
    /** Asked for at sign-in: it does not end when the browser is closed or not used for a while. */
    isRemembered: boolean().notNull().default(false),
    /** Moves on with each use, and is never later than `expires_at`. */
    idleExpiresAt: instant().notNull(),
    expiresAt: instant().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('sessions_secret_key').on(table.secretHash),
    index('sessions_user_idx').on(table.userId, table.id),
    index('sessions_idle_expires_idx').on(table.idleExpiresAt),
  ],
)
export type SessionRow = typeof sessions.$inferSelect
