import type { OAuthApplicationRow } from '../../db/schema/oauth.ts'
import type { Context } from '../context.ts'
import { isRegisteredRedirect } from '../features/oauth-applications/redirect-uris.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { invalidGrant } from './errors.ts'
import type { Parameters } from './parameters.ts'
import { isProven } from './pkce.ts'
import { type FoundAuthorization, findByCode, removeUsedAuthorization, useCode } from './store.ts'
import { makeFirstTokens, presentTokens, requireUsableGrant, storeAccessToken, type TokenAnswer } from './tokens.ts'

/**
 * RFC 6749, 4.1.3. A code is good for one use; whoever comes with it again ends what it gave (RFC 6749, 4.1.2). Requests that are refused
 * for another reason leave it as it is.
 * @throws OAuthError invalid_grant
 */
export async function exchangeCode(
  context: Context,
  client: OAuthApplicationRow,
  parameters: Parameters,
): Promise<TokenAnswer> {
  const found = await findAnswered(context, client, parameters)
  const { authorization, user } = found
  const { scopes, requestedScope } = authorization
  const { family, ...tokens } = makeFirstTokens(context)
  const isFirst = await context.db.transaction(async (tx) => {
    if (!(await useCode(tx, authorization.id, family))) return false
    await storeAccessToken(tx, authorization, { ...tokens, scopes })
    return true
  })
  if (!isFirst) throw await refuseReuse(context, found)
  return presentTokens(context, { clientId: client.clientId, user, authorization, ...tokens, scopes, requestedScope })
}

/** The authorization that the request fits in every respect. */
async function findAnswered(
  context: Context,
  client: OAuthApplicationRow,
  parameters: Parameters,
): Promise<FoundAuthorization> {
  const redirectUri = parameters.get('redirect_uri')
  if (redirectUri !== undefined && !isRegisteredRedirect(client, redirectUri))
    throw invalidGrant('unexpected redirect URI')
  const found = await findByCode(context.db, sha256Hex(parameters.get('code') ?? ''))
  if (!found) throw notAuthorized()
  const { authorization, grant, user } = found
  if (authorization.redirectUri !== redirectUri)
    throw invalidGrant('redirect_uri differs from the original authorization request')
  if (grant.applicationId !== client.id) throw invalidGrant('invalid grant')
  if (!isProven(authorization, parameters.get('code_verifier'))) throw invalidGrant('failed PKCE code challenge')
  if (authorization.codeUsedAt !== null) throw await refuseReuse(context, found)
  if (authorization.codeExpiresAt === null || authorization.codeExpiresAt <= context.clock.now())
    throw invalidGrant('authorization code expired')
  requireUsableGrant(context, user)
  return found
}

const notAuthorized = () => invalidGrant('client is not authorized')

async function refuseReuse({ db }: Context, { authorization }: FoundAuthorization) {
  await removeUsedAuthorization(db, authorization.id)
  return notAuthorized()
}
