import type { Db } from '../../db/client.ts'
import type { OAuthAuthorizationRow } from '../../db/schema/oauth.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { requireUsableAccount } from '../auth/authenticate.ts'
import { makeOAuthSecret, makeRefreshToken, writeRefreshToken } from '../auth/oauth-secrets.ts'
import type { Context } from '../context.ts'
import { Refusal } from '../kernel/errors.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { invalidGrant } from './errors.ts'
import { signIdToken } from './id-token.ts'
import { announcedScope } from './scopes.ts'
import { insertAccessToken } from './store.ts'

/** The answer of the token endpoint (RFC 6749, 5.1; OpenID Connect Core, 3.1.3.3). */
export interface TokenAnswer {
  access_token: string
  token_type: 'bearer'
  /** Seconds. */
  expires_in: number
  refresh_token: string
  id_token?: string
  scope?: string
}

const SECOND_MS = 1000
const HOUR_MS = 3_600_000

/** When an access token that is made now ends. */
export const accessExpiry = ({ config }: Context, now: Date): Date =>
  new Date(now.getTime() + config.oauth2AccessTokenExpirationTime * SECOND_MS)

/** When a refresh token that is not used ends; never before its access token. */
export const refreshExpiry = (context: Context, now: Date): Date =>
  new Date(
    Math.max(
      now.getTime() + context.config.oauth2RefreshTokenExpirationTime * HOUR_MS,
      accessExpiry(context, now).getTime(),
    ),
  )

/** The first tokens of an authorization, and what its row keeps of the refresh token. */
export function makeFirstTokens(context: Context) {
  const now = context.clock.now()
  const refresh = makeRefreshToken()
  return {
    accessToken: makeOAuthSecret('access'),
    refreshToken: writeRefreshToken(refresh),
    expiresAt: accessExpiry(context, now),
    family: {
      handleHash: sha256Hex(refresh.handle),
      refreshHash: sha256Hex(refresh.secret),
      expiresAt: refreshExpiry(context, now),
      now,
    },
  }
}

export const storeAccessToken = (
  tx: Db,
  { id }: OAuthAuthorizationRow,
  { accessToken, scopes, expiresAt }: { accessToken: string; scopes: string[]; expiresAt: Date },
): Promise<void> => insertAccessToken(tx, { authorizationId: id, tokenHash: sha256Hex(accessToken), scopes, expiresAt })

interface Issued {
  clientId: string
  user: UserRow
  authorization: OAuthAuthorizationRow
  accessToken: string
  refreshToken: string
  scopes: readonly string[]
  /** Of the access token. */
  expiresAt: Date
  /** As the client asked, this time. */
  requestedScope: string
}

export async function presentTokens(context: Context, issued: Issued): Promise<TokenAnswer> {
  const { clientId, user, authorization, accessToken, refreshToken, scopes, expiresAt, requestedScope } = issued
  const { nonce, authTime } = authorization
  const scope = announcedScope(requestedScope, scopes)
  return {
    access_token: accessToken,
    token_type: 'bearer',
    expires_in: Math.max(0, Math.round((expiresAt.getTime() - context.clock.now().getTime()) / SECOND_MS)),
    refresh_token: refreshToken,
    ...(scopes.includes('openid')
      ? { id_token: await signIdToken(context, { clientId, user, scopes, nonce, authTime, accessToken }) }
      : {}),
    ...(scope === undefined ? {} : { scope }),
  }
}

/** @throws OAuthError for a person who may not sign in now, or has to change the password first */
export function requireUsableGrant(context: Context, user: UserRow): void {
  try {
    requireUsableAccount(context, user)
  } catch (error) {
    throw error instanceof Refusal ? invalidGrant(error.message) : error
  }
}
