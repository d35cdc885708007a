import { narrowByScopes, narrowToChosen, type ScopeRule } from '../access/token-reach.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { forbidden, unauthorized } from '../kernel/errors.ts'
import { identify } from './identify.ts'

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
