import type { OAuthApplicationRow } from '../../db/schema/oauth.ts'
import { readRefreshToken } from '../auth/oauth-secrets.ts'
import type { Context } from '../context.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { OAuthError } from './errors.ts'
import { findAccessToken, findByHandle, removeAccessToken, removeAuthorization } from './store.ts'

/** Three parts of base64url: an id token, which nobody can take back. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * RFC 7009: a refresh token ends with all that came of the same authorization, an access token alone. A token that is not the client's, or
 * none at all, is answered alike and stays.
 * @throws OAuthError unsupported_token_type for an id token
 */
export async function revokeToken({ db }: Context, client: OAuthApplicationRow, text: string): Promise<void> {
  if (JWT.test(text)) throw new OAuthError('unsupported_token_type', 'id tokens cannot be revoked')
  const refresh = readRefreshToken(text)
  if (refresh) {
    // An old secret too: whoever takes a token back wants its family to end.
    const found = await findByHandle(db, sha256Hex(refresh.handle))
    if (found?.grant.applicationId === client.id) await removeAuthorization(db, found.authorization.id)
    return
  }
  const found = await findAccessToken(db, sha256Hex(text))
  if (found?.application.id === client.id) await removeAccessToken(db, found.token.id)
}
