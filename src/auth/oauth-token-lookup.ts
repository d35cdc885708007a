import { eq, sql } from 'drizzle-orm'
import { prepared } from '../../db/client.ts'
import { oauthAccessTokens, oauthAuthorizations, oauthGrants } from '../../db/schema/oauth.ts'
import { users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import type { Actor } from './actor.ts'
import { apiScopes, claimScopes } from './scopes.ts'

/** Token and account in one statement, as for personal tokens: without the grant or the authorization there is no row. */
const byHash = prepared((db) =>
  db
    .select({
      scopes: oauthAccessTokens.scopes,
      expiresAt: oauthAccessTokens.expiresAt,
      grantId: oauthGrants.id,
      user: users,
    })
    .from(oauthAccessTokens)
    .innerJoin(oauthAuthorizations, eq(oauthAuthorizations.id, oauthAccessTokens.authorizationId))
    .innerJoin(oauthGrants, eq(oauthGrants.id, oauthAuthorizations.grantId))
    .innerJoin(users, eq(users.id, oauthGrants.userId))
    .where(eq(oauthAccessTokens.tokenHash, sql.placeholder('hash')))
    .prepare('oauth_access_token_by_hash'),
)

/** The actor of an application's access token; undefined when no valid one has this secret. */
export async function findOAuthActor(context: Context, secret: string): Promise<Actor | undefined> {
  if (!context.config.oauth2Enabled) return undefined
  const [found] = await byHash(context.db).execute({ hash: sha256Hex(secret) })
  if (!found || found.expiresAt <= context.clock.now()) return undefined
  const { user, grantId, scopes, expiresAt } = found
  return {
    user,
    method: 'oauth',
    scopes: apiScopes(scopes),
    claimScopes: claimScopes(scopes),
    tokenId: grantId,
    tokenExpiresAt: expiresAt,
    publicOnly: false,
  }
}
