import type { Actor } from '../auth/actor.ts'
import { readCredential } from '../auth/credentials.ts'
import { CLAIM_SCOPES, judgeScopes } from '../auth/scopes.ts'
import type { Context } from '../context.ts'
import { identify } from '../http/admission.ts'
import { exchangeOf } from '../http/exchange.ts'
import { Refusal } from '../kernel/errors.ts'
import { type Claims, claimsOf } from './claims.ts'

/** RFC 6750, 3: the answer to a client that sends no token. */
const CHALLENGE = { 'www-authenticate': 'Bearer realm="Hearth OAuth2"' }

/** RFC 6750, 3.1. */
const wrongToken = ({ message }: Refusal) =>
  new Refusal(401, message, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })

/** Wire: null where the person belongs to no organization. */
type Userinfo = Omit<Claims, 'groups'> & { groups?: string[] | null }

/**
 * OpenID Connect Core, 5.3: the claims that the scopes of the token give.
 * @throws Refusal 401 without a token and for a wrong one, 403 for an account that may not sign in
 */
export async function readUserinfo(context: Context, request: Request): Promise<Userinfo> {
  const exchange = exchangeOf(request)
  const { url, headers, bearer, bodyToken } = exchange
  const authorization = headers.get('authorization') ?? undefined
  if (readCredential({ url, authorization, bearer, bodyToken, session: undefined })?.kind !== 'token')
    throw new Refusal(401, 'no valid authorization', { headers: CHALLENGE, isText: true })
  const actor = await identify(context, request).catch((error: unknown) => {
    throw error instanceof Refusal && error.status === 401 ? wrongToken(error) : error
  })
  if (!actor) throw new Error('a token without an actor')
  const { groups, ...claims } = await claimsOf(context, actor.user, claimScopes(context, actor))
  return { ...claims, ...(groups === undefined ? {} : { groups: groups.length === 0 ? null : groups }) }
}

/** Wire: a personal token works too. It tells what a client may read that has it. */
function claimScopes({ config }: Context, { method, scopes = [], claimScopes = [] }: Actor): string[] {
  const seesAll =
    config.oauth2UserinfoAllClaims ||
    (method !== 'oauth' && judgeScopes(scopes, { area: 'user' }, 'read') === 'granted')
  return [...(seesAll ? CLAIM_SCOPES : claimScopes), ...scopes.filter((word) => word === 'public-only')]
}
