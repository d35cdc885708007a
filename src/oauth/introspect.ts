import type { OAuthApplicationRow } from '../../db/schema/oauth.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { readRefreshToken } from '../auth/oauth-secrets.ts'
import type { Context } from '../context.ts'
import { constantTimeEqual, sha256Hex } from '../kernel/hashing.ts'
import { OAuthError } from './errors.ts'
import { issuerOf } from './issuer.ts'
import { findAccessToken, findByHandle } from './store.ts'
import { requireUsableGrant } from './tokens.ts'

/** RFC 7662, 2.2. */
type Introspection =
  | { active: false }
  | {
      active: true
      scope: string
      username: string
      iss: string
      sub: string
      aud: string[]
      client_id: string
      exp: number
      iat: number
      token_type?: 'bearer'
    }

interface Live {
  user: UserRow
  scopes: readonly string[]
  expiresAt: Date
  issuedAt: Date
  isAccess: boolean
}

/** What a token of the client's own is good for now. Of all others it learns nothing, not even that they exist. */
export async function introspect(context: Context, client: OAuthApplicationRow, token: string): Promise<Introspection> {
  const live = await findLive(context, client, token)
  if (!live || live.expiresAt <= context.clock.now() || !isUsable(context, live.user)) return { active: false }
  return {
    active: true,
    scope: live.scopes.join(' '),
    username: live.user.name,
    iss: issuerOf(context),
    sub: String(live.user.id),
    aud: [client.clientId],
    client_id: client.clientId,
    exp: seconds(live.expiresAt),
    iat: seconds(live.issuedAt),
    ...(live.isAccess ? { token_type: 'bearer' as const } : {}),
  }
}

async function findLive({ db }: Context, client: OAuthApplicationRow, text: string): Promise<Live | undefined> {
  const refresh = readRefreshToken(text)
  if (!refresh) {
    const found = await findAccessToken(db, sha256Hex(text))
    if (found?.application.id !== client.id) return undefined
    const { token, user } = found
    return { user, scopes: token.scopes, expiresAt: token.expiresAt, issuedAt: token.createdAt, isAccess: true }
  }
  const found = await findByHandle(db, sha256Hex(refresh.handle))
  if (found?.grant.applicationId !== client.id) return undefined
  const { user, authorization } = found
  const { refreshHash, scopes, expiresAt, refreshedAt, createdAt } = authorization
  if (!constantTimeEqual(refreshHash ?? '', sha256Hex(refresh.secret))) return undefined
  return { user, scopes, expiresAt, issuedAt: refreshedAt ?? createdAt, isAccess: false }
}

function isUsable(context: Context, user: UserRow): boolean {
  try {
    requireUsableGrant(context, user)
    return true
  } catch (error) {
    if (error instanceof OAuthError) return false
    throw error
  }
}

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000)
