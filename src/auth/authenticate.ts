import type { UserRow } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { forbidden, Refusal, unauthorized } from '../kernel/errors.ts'
import type { Actor } from './actor.ts'
import { findBasicActor } from './basic.ts'
import { type Credential, readCredential, readQuery } from './credentials.ts'
import { requireOwnRequest } from './csrf.ts'
import { OAUTH_TOKEN_PATTERN } from './oauth-secrets.ts'
import type { RequestOrigin } from './origin.ts'
import { readCookie } from './session-cookie.ts'
import { findSessionActor } from './sessions.ts'
import { actAs } from './sudo.ts'
import { findTokenActor } from './token-lookup.ts'

/** What the request brings along besides its own text. */
export interface Circumstances {
  origin: RequestOrigin
  /** What @elysiajs/bearer read. */
  bearer: string | undefined
  /** The token of a form, where the request is one. */
  formToken?: string | undefined
  isPage?: boolean
  /** A token in the body of a form. */
  bodyToken: string | undefined
}

/**
 * The first half of turning a request into an actor: its credential.
 * @returns undefined when no credential was presented, and for the cookie of a session that has ended: browsers go on sending it
 * @throws Refusal 401 for a wrong credential, 403 for a change that another site's page sends with the cookie, 429 while tries are
 * slowed down
 */
export async function proveCredential(
  context: Context,
  request: Request,
  { origin, bearer, bodyToken, formToken, isPage }: Circumstances,
): Promise<Actor | undefined> {
  const authorization = request.headers.get('authorization') ?? undefined
  const credential = readCredential({
    url: request.url,
    authorization,
    bearer,
    bodyToken,
    session: readCookie(context, request, 'session'),
  })
  if (credential === undefined) return undefined
  if (credential.kind === 'session') {
    const actor = await findSessionActor(context, credential.secret, origin)
    if (!actor) return undefined
    requireOwnRequest(context, request, { session: actor.session, formToken, isPage })
    return { ...actor, origin }
  }
  const actor = await findActor(context, credential, { request, origin })
  if (!actor) throw refusalFor(credential)
  return { ...actor, origin }
}

/** RFC 6750, 3: an application hears that its token has ended. Wire: for anything else Gitea sends no such header. */
function refusalFor(credential: Credential): Refusal {
  const isOAuth = credential.kind === 'token' && OAUTH_TOKEN_PATTERN.test(credential.secret)
  const details = isOAuth ? { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } } : {}
  return new Refusal(401, 'invalid username, password or token', details)
}

/**
 * The second half: the state of the account, then sudo.
 * @param mayChangePassword true on the one route where an account that must change its password does so
 * @throws Refusal 403 for an account that may not sign in or a refused sudo, 404 for its target
 */
export async function admitAccount(
  context: Context,
  request: Request,
  { actor, mayChangePassword = false }: { actor: Actor | undefined; mayChangePassword?: boolean | undefined },
): Promise<Actor | undefined> {
  if (actor) requireUsableAccount(context, actor.user, mayChangePassword)
  const sudoName = readSudo(request)
  return sudoName ? actAs(context, actor, sudoName) : actor
}

/** @throws Refusal 403 for two names: whoever wrote the one, such as a proxy, meant another than is acted for. */
function readSudo({ url, headers }: Request): string | undefined {
  const [inQuery, inHeader] = [readQuery(url, ['sudo']), headers.get('sudo') || undefined]
  if (inQuery && inHeader && inQuery.toLowerCase() !== inHeader.toLowerCase())
    throw forbidden('Query and header name different users to sudo.', { withoutUrl: true })
  return inQuery ?? inHeader
}

function findActor(
  context: Context,
  credential: Exclude<Credential, { kind: 'session' }>,
  { request, origin }: { request: Request; origin: RequestOrigin },
): Promise<Actor | undefined> {
  if (credential.kind === 'token') {
    if (credential.isInQuery && context.config.queryTokens === 'refuse')
      throw unauthorized('this site takes no token in the query: send it in the Authorization header')
    return findTokenActor(context, credential.secret)
  }
  return findBasicActor(context, { ...credential, code: readOneTimeCode(request), origin })
}

/** The headers that a one-time code may come in: the specification's, the Gitea API's and our own. */
const CODE_HEADERS = ['x-service-otp', 'x-gitea-otp', 'x-hearth-otp']

function readOneTimeCode({ headers }: Request): string | undefined {
  for (const name of CODE_HEADERS) {
    const code = headers.get(name)
    if (code) return code.slice(0, 64)
  }
  return undefined
}

/** @throws Refusal 403 for an account that may not sign in now */
export function requireUsableAccount({ baseUrl }: Context, user: UserRow, mayChangePassword = false): void {
  if (user.prohibitLogin || !user.isActive)
    throw forbidden('This account is prohibited from signing in, please contact your site administrator.', {
      withoutUrl: true,
    })
  if (user.mustChangePassword && !mayChangePassword)
    throw forbidden(`You must change your password. Change it at: ${baseUrl}/user/change_password`, {
      withoutUrl: true,
    })
}
