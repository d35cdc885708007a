import type { OAuthApplicationRow } from '../../db/schema/oauth.ts'
import {
  base32,
  oauthSecretFrom,
  type RefreshToken,
  readRefreshToken,
  writeRefreshToken,
} from '../auth/oauth-secrets.ts'
import type { Context } from '../context.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { invalidGrant, invalidRequest, OAuthError } from './errors.ts'
import type { Parameters } from './parameters.ts'
import { narrowedScopes } from './scopes.ts'
import { type FoundAuthorization, findAccessToken, findByHandle, removeAuthorization, rotateRefresh } from './store.ts'
import {
  accessExpiry,
  presentTokens,
  refreshExpiry,
  requireUsableGrant,
  storeAccessToken,
  type TokenAnswer,
} from './tokens.ts'

/** A client whose answer was lost, or that asked twice at once, gets the same answer again for so long. */
const GRACE_MS = 10_000

/**
 * RFC 6749, 6. Each refresh makes the next token of the family; an older one that comes back ends the family (RFC 9700, 4.14.2).
 * @throws OAuthError invalid_grant, invalid_scope
 */
export async function refreshTokens(
  context: Context,
  client: OAuthApplicationRow,
  parameters: Parameters,
): Promise<TokenAnswer> {
  const text = parameters.get('refresh_token')
  if (text === undefined) throw invalidRequest('unable to parse refresh token')
  const presented = readRefreshToken(text)
  if (!presented) throw invalidGrant('unable to parse refresh token')
  const found = await findUsable(context, client, presented)
  const scopes = narrowedScopes(found.authorization.scopes, parameters.get('scope'))
  if (!scopes) throw new OAuthError('invalid_scope', 'the scope is wider than what was granted')
  const [next, ...earlier] = successorsOf(context, presented)
  const now = context.clock.now()
  const rotation = { from: sha256Hex(presented.secret), to: sha256Hex(next.refresh.secret), now }
  const expiresAt = accessExpiry(context, now)
  const isFirst = await context.db.transaction(async (tx) => {
    const { authorization } = found
    if (!(await rotateRefresh(tx, authorization.id, { ...rotation, expiresAt: refreshExpiry(context, now) })))
      return false
    await storeAccessToken(tx, authorization, { accessToken: next.access, scopes, expiresAt })
    return true
  })
  const issued = isFirst
    ? { successor: next, scopes, expiresAt }
    : await repeatable(context, presented, [next, ...earlier])
  const { authorization, user } = found
  return presentTokens(context, {
    clientId: client.clientId,
    user,
    authorization,
    accessToken: issued.successor.access,
    refreshToken: writeRefreshToken(issued.successor.refresh),
    scopes: issued.scopes,
    expiresAt: issued.expiresAt,
    requestedScope: parameters.get('scope') ?? authorization.requestedScope,
  })
}

async function findUsable(
  context: Context,
  client: OAuthApplicationRow,
  { handle }: RefreshToken,
): Promise<FoundAuthorization> {
  const found = await findByHandle(context.db, sha256Hex(handle))
  if (!found) throw invalidGrant('grant does not exist')
  if (found.grant.applicationId !== client.id) throw invalidGrant('refresh token belongs to a different client')
  if (found.authorization.expiresAt <= context.clock.now()) throw invalidGrant('refresh token expired')
  requireUsableGrant(context, found.user)
  return found
}

interface Successor {
  refresh: RefreshToken
  access: string
}

/**
 * Made from the token that is presented, so that nothing has to be stored to answer the same again. The first is the one that is given
 * now; another one was given if the secret key has changed since.
 */
function successorsOf({ secrets }: Context, presented: RefreshToken): [Successor, ...Successor[]] {
  const text = writeRefreshToken(presented)
  const access = secrets.signatures('oauth access token', text)
  const [ours, ...others] = secrets.signatures('oauth refresh token', text).map((refresh, index) => ({
    refresh: { handle: presented.handle, secret: base32(refresh) },
    access: oauthSecretFrom('access', access[index] ?? access[0]),
  }))
  if (ours === undefined) throw new Error('no key signs')
  return [ours, ...others]
}

/**
 * What the refresh before this one has given, if it was the same one and a moment ago.
 * @throws OAuthError for an old token, whose family ends
 */
async function repeatable(context: Context, presented: RefreshToken, successors: readonly Successor[]) {
  const found = await findByHandle(context.db, sha256Hex(presented.handle))
  if (!found) throw invalidGrant('grant does not exist')
  const { id, refreshHash, previousRefreshHash, refreshedAt } = found.authorization
  const since = context.clock.now().getTime() - (refreshedAt?.getTime() ?? 0)
  const isRepeated = previousRefreshHash === sha256Hex(presented.secret) && since <= GRACE_MS
  const successor = isRepeated ? successors.find(({ refresh }) => sha256Hex(refresh.secret) === refreshHash) : undefined
  const token = successor && (await findAccessToken(context.db, sha256Hex(successor.access)))
  if (token) return { successor, scopes: token.token.scopes, expiresAt: token.token.expiresAt }
  await removeAuthorization(context.db, id)
  throw invalidGrant('token was already used')
}
