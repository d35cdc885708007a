import { and, eq, gt, isNotNull, isNull, lt } from 'drizzle-orm'
import { beyondNewest } from '../../db/beyond-newest.ts'
import type { Db } from '../../db/client.ts'
import {
  type OAuthAccessTokenRow,
  type OAuthApplicationRow,
  type OAuthAuthorizationRow,
  type OAuthGrantRow,
  oauthAccessTokens,
  oauthApplications,
  oauthAuthorizations,
  oauthGrants,
} from '../../db/schema/oauth.ts'
import { type UserRow, users } from '../../db/schema/users.ts'

/** An authorization, and who gave it. */
export interface FoundAuthorization {
  authorization: OAuthAuthorizationRow
  grant: OAuthGrantRow
  user: UserRow
}

const joined = (db: Db) =>
  db
    .select({ authorization: oauthAuthorizations, grant: oauthGrants, user: users })
    .from(oauthAuthorizations)
    .innerJoin(oauthGrants, eq(oauthGrants.id, oauthAuthorizations.grantId))
    .innerJoin(users, eq(users.id, oauthGrants.userId))

export async function findByCode(db: Db, codeHash: string): Promise<FoundAuthorization | undefined> {
  const [found] = await joined(db).where(eq(oauthAuthorizations.codeHash, codeHash))
  return found
}

export async function findById(db: Db, id: number): Promise<FoundAuthorization | undefined> {
  const [found] = await joined(db).where(eq(oauthAuthorizations.id, id))
  return found
}

export async function findByHandle(db: Db, handleHash: string): Promise<FoundAuthorization | undefined> {
  const [found] = await joined(db).where(eq(oauthAuthorizations.handleHash, handleHash))
  return found
}

export interface FoundAccessToken extends FoundAuthorization {
  token: OAuthAccessTokenRow
  application: OAuthApplicationRow
}

export async function findAccessToken(db: Db, tokenHash: string): Promise<FoundAccessToken | undefined> {
  const [found] = await db
    .select({
      token: oauthAccessTokens,
      authorization: oauthAuthorizations,
      grant: oauthGrants,
      application: oauthApplications,
      user: users,
    })
    .from(oauthAccessTokens)
    .innerJoin(oauthAuthorizations, eq(oauthAuthorizations.id, oauthAccessTokens.authorizationId))
    .innerJoin(oauthGrants, eq(oauthGrants.id, oauthAuthorizations.grantId))
    .innerJoin(oauthApplications, eq(oauthApplications.id, oauthGrants.applicationId))
    .innerJoin(users, eq(users.id, oauthGrants.userId))
    .where(eq(oauthAccessTokens.tokenHash, tokenHash))
  return found
}

interface Family {
  handleHash: string
  refreshHash: string
  expiresAt: Date
  now: Date
}

/** Begins the family of what was allowed without a code. */
export async function beginFamily(db: Db, id: number, { now, ...family }: Family): Promise<void> {
  await db
    .update(oauthAuthorizations)
    .set({ ...family, refreshedAt: now })
    .where(eq(oauthAuthorizations.id, id))
}

/** Uses up a code, and begins the family of its tokens. @returns whether the code was good: of several uses at once, for one */
export async function useCode(db: Db, id: number, { now, ...family }: Family): Promise<boolean> {
  const used = await db
    .update(oauthAuthorizations)
    .set({ ...family, codeUsedAt: now, refreshedAt: now })
    .where(
      and(
        eq(oauthAuthorizations.id, id),
        isNull(oauthAuthorizations.codeUsedAt),
        gt(oauthAuthorizations.codeExpiresAt, now),
      ),
    )
    .returning({ id: oauthAuthorizations.id })
  return used.length > 0
}

interface Rotation {
  from: string
  to: string
  expiresAt: Date
  now: Date
}

/** Replaces the secret of a refresh token. @returns whether it was the present one: of several refreshes at once, for one */
export async function rotateRefresh(db: Db, id: number, { from, to, expiresAt, now }: Rotation): Promise<boolean> {
  const rotated = await db
    .update(oauthAuthorizations)
    .set({ refreshHash: to, previousRefreshHash: from, refreshedAt: now, expiresAt })
    .where(and(eq(oauthAuthorizations.id, id), eq(oauthAuthorizations.refreshHash, from)))
    .returning({ id: oauthAuthorizations.id })
  return rotated.length > 0
}

/** As many access tokens of one authorization work at once; a client that refreshes without end keeps no more. */
const MAX_ACCESS_TOKENS = 20

export async function insertAccessToken(db: Db, token: typeof oauthAccessTokens.$inferInsert): Promise<void> {
  await db.insert(oauthAccessTokens).values(token)
  const ofSame = eq(oauthAccessTokens.authorizationId, token.authorizationId)
  const excess = beyondNewest(db, oauthAccessTokens.id, { of: ofSame, keep: MAX_ACCESS_TOKENS })
  await db.delete(oauthAccessTokens).where(excess)
}

/** With it go all its tokens. */
export async function removeAuthorization(db: Db, id: number): Promise<void> {
  await db.delete(oauthAuthorizations).where(eq(oauthAuthorizations.id, id))
}

/** The same, where its code was used: a code that was only refused stays good. */
export async function removeUsedAuthorization(db: Db, id: number): Promise<void> {
  await db
    .delete(oauthAuthorizations)
    .where(and(eq(oauthAuthorizations.id, id), isNotNull(oauthAuthorizations.codeUsedAt)))
}

export async function removeAccessToken(db: Db, id: number): Promise<void> {
  await db.delete(oauthAccessTokens).where(eq(oauthAccessTokens.id, id))
}

/** Forgets what cannot be used any more. */
export async function removeExpired(db: Db, now: Date): Promise<{ authorizations: number; accessTokens: number }> {
  const accessTokens = await db
    .delete(oauthAccessTokens)
    .where(lt(oauthAccessTokens.expiresAt, now))
    .returning({ id: oauthAccessTokens.id })
  const authorizations = await db
    .delete(oauthAuthorizations)
    .where(lt(oauthAuthorizations.expiresAt, now))
    .returning({ id: oauthAuthorizations.id })
  return { authorizations: authorizations.length, accessTokens: accessTokens.length }
}
