import type { Actor } from '../auth/actor.ts'
import { admitAccount, proveCredential } from '../auth/authenticate.ts'
import type { RequestOrigin } from '../auth/origin.ts'
import { narrowByScopes, narrowToChosen, type ScopeRule } from '../auth/scopes.ts'
import type { Context } from '../context.ts'
import { forbidden, Refusal, unauthorized } from '../kernel/errors.ts'
import { clientAddress, type Exchange, exchangeOf, pathOf } from './exchange.ts'
import { countCaller, countVisitor, countWrongCredential } from './rate-limit.ts'

interface AdmissionRule {
  scope?: ScopeRule
  /** Open even where the site asks everybody to sign in: the version, health, templates. */
  beforeSignIn?: boolean
  /** Also for an account that must change its password. */
  mayChangePassword?: boolean
  /** The gate judges one repository: there a token for chosen repositories is judged with it. */
  isOfRepository?: boolean
}

/**
 * The part that every gate shares: who is asking, and whether the token may ask for this.
 * @throws Refusal 401 or 403 as `authenticate`, 403 for a scope that is missing and for a change by a token for chosen
 * repositories, 401 for a visitor where all must sign in.
 */
export async function admit(context: Context, request: Request, rule: AdmissionRule): Promise<Actor | undefined> {
  const actor = await identify(context, request, { mayChangePassword: rule.mayChangePassword })
  if (!actor) {
    if (context.config.requireSigninView && !rule.beforeSignIn) throw unauthorized()
    return undefined
  }
  if (rule.scope === undefined) return actor
  const admitted = requireScopes(actor, rule.scope, request.method)
  if (rule.isOfRepository) return admitted
  const narrowed = narrowToChosen(admitted, rule.scope, changes(request.method))
  if (!narrowed) throw chosenOnly()
  return narrowed
}

export const chosenOnly = () => forbidden('the token reaches chosen repositories only')

/** Wire: GET, HEAD and OPTIONS need read, all other methods write. */
export const changes = (method: string): boolean => !/^(GET|HEAD|OPTIONS)$/.test(method)

/** @throws Refusal 403 naming the scopes, unless the actor's token holds all of them. */
export function requireScopes(actor: Actor, rule: ScopeRule, method: string): Actor {
  const verdict = narrowByScopes(actor, rule, changes(method))
  if (verdict.actor) return verdict.actor
  const { missing } = verdict
  throw forbidden(
    `token does not have at least one of required scope(s), required=[${missing}], token scope=${actor.scopes?.join(',')}`,
    { requiredScopes: [missing] },
  )
}

/**
 * Who is asking. The request is counted against the limit as soon as that is known, by what was proven.
 * @returns undefined when no credential was presented
 * @throws Refusal as `proveCredential` and `admitAccount`, 429 for a caller over the limit
 */
export async function identify(
  context: Context,
  request: Request,
  { formToken, ...rule }: { mayChangePassword?: boolean | undefined; formToken?: string | undefined } = {},
): Promise<Actor | undefined> {
  const exchange = exchangeOf(request)
  const actor = await prove(context, exchange, formToken)
  if (actor?.tokenExpiresAt) exchange.tokenExpiresAt = actor.tokenExpiresAt
  await (actor ? countCaller(context, exchange, actor) : countVisitor(context, exchange))
  return admitAccount(context, request, { actor, ...rule })
}

async function prove(context: Context, exchange: Exchange, formToken: string | undefined): Promise<Actor | undefined> {
  try {
    const origin = originOf(context, exchange)
    const { bearer, bodyToken, isPage } = exchange
    return await proveCredential(context, exchange, { origin, bearer, bodyToken, formToken, isPage })
  } catch (error) {
    // A fault of the service is not the caller's.
    if (error instanceof Refusal && error.status < 500) await countWrongCredential(context, exchange)
    throw error
  }
}

/** What most requests never need of their origin is worked out when it is asked for. */
export const originOf = ({ config }: Context, exchange: Exchange): RequestOrigin => ({
  get address() {
    return clientAddress(config, exchange)
  },
  get route() {
    return `${exchange.method} ${pathOf(exchange.url)}`
  },
  requestId: exchange.id,
  get userAgent() {
    return exchange.headers.get('user-agent') ?? undefined
  },
})
