import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import { prepared } from '../../db/client.ts'
import { type AccessTokenRow, accessTokenRepositories, accessTokens } from '../../db/schema/credentials.ts'
import { users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import type { Actor } from './actor.ts'
import { findJobActor, isJobToken } from './job-tokens.ts'
import { OAUTH_TOKEN_PATTERN } from './oauth-secrets.ts'
import { findOAuthActor } from './oauth-token-lookup.ts'

/** The form of a personal access token. Clients of the Gitea API check for it. */
const TOKEN_PATTERN = /^[0-9a-f]{40}$/

/** `last_used_at` is written at most this often, so that reading does not mean writing. */
const USE_RECORDED_EVERY_MS = 59_000

/**
 * Token, account and chosen repositories in one statement, read for every request. Nothing of it is cached: a token that was revoked is
 * refused by every replica with the next request.
 */
const byHash = prepared((db) => {
  const chosen = db
    .select({ ids: sql<number[] | null>`json_agg(${accessTokenRepositories.repositoryId})`.as('ids') })
    .from(accessTokenRepositories)
    .where(eq(accessTokenRepositories.tokenId, accessTokens.id))
  return db
    .select({ token: accessTokens, user: users, repositoryIds: sql<number[] | null>`(${chosen})` })
    .from(accessTokens)
    .innerJoin(users, eq(users.id, accessTokens.userId))
    .where(eq(accessTokens.tokenHash, sql.placeholder('hash')))
    .prepare('access_token_by_hash')
})

/** Whether a text can be a token: what stands in the place of a password is not taken for one then. */
export const isToken = (secret: string): boolean =>
  isJobToken(secret) || [TOKEN_PATTERN, OAUTH_TOKEN_PATTERN].some((pattern) => pattern.test(secret))

/** The actor of a token, whose kind shows in its form; undefined when no valid one has this secret. */
export async function findTokenActor(context: Context, secret: string): Promise<Actor | undefined> {
  if (OAUTH_TOKEN_PATTERN.test(secret)) return findOAuthActor(context, secret)
  if (isJobToken(secret)) return findJobActor(context, secret)
  return TOKEN_PATTERN.test(secret) ? findPersonalActor(context, secret) : undefined
}

async function findPersonalActor(context: Context, secret: string): Promise<Actor | undefined> {
  const [found] = await byHash(context.db).execute({ hash: sha256Hex(secret) })
  if (!found) return undefined
  const { token, user, repositoryIds } = found
  const now = context.clock.now()
  if (token.expiresAt !== null && token.expiresAt <= now) return undefined
  await recordUse(context, token, now)
  return {
    user,
    method: 'token',
    scopes: token.scopes,
    tokenId: token.id,
    tokenExpiresAt: token.expiresAt ?? undefined,
    repositoryIds: token.isLimitedToRepositories ? (repositoryIds ?? []) : undefined,
    publicOnly: false,
  }
}

async function recordUse({ db }: Context, { id, lastUsedAt }: AccessTokenRow, now: Date): Promise<void> {
  const due = new Date(now.getTime() - USE_RECORDED_EVERY_MS)
  if (lastUsedAt !== null && lastUsedAt >= due) return
  // Of requests at the same time one writes.
  await db
    .update(accessTokens)
    .set({ lastUsedAt: now })
    .where(and(eq(accessTokens.id, id), or(isNull(accessTokens.lastUsedAt), lt(accessTokens.lastUsedAt, due))))
}
