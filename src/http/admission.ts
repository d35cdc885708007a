import type { Actor } from '../auth/actor.ts'
import { judgeScopes, type ScopeArea, type ScopeLevel, type ScopeNeed } from '../auth/scopes.ts'
import type { Context } from '../context.ts'
import { forbidden, unauthorized } from '../kernel/errors.ts'
import { identify } from './identify.ts'

/** What a route asks of a token: an area, a part of one, or several that must all be met. */
export type ScopeRule = ScopeArea | ScopeNeed | readonly (ScopeArea | ScopeNeed)[]

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
 * @throws Refusal 401 or 403 as `authenticate`, 403 for a scope that is missing, 401 for a visitor where all must sign in.
 */
export async function admit(context: Context, request: Request, rule: AdmissionRule): Promise<Actor | undefined> {
  const actor = await identify(context, request, { mayChangePassword: rule.mayChangePassword })
  if (!actor) {
    if (context.config.requireSigninView && !rule.beforeSignIn) throw unauthorized()
    return undefined
  }
  if (rule.scope === undefined) return actor
  const admitted = requireScopes(actor, rule.scope, request.method)
  return rule.isOfRepository ? admitted : keepToRepositories(admitted, rule.scope, request.method)
}

/** Areas whose lists leave out by themselves what a token for chosen repositories does not reach, and the one that has no owners. */
const FILTERED_AREAS: ReadonlySet<ScopeArea> = new Set(['repository', 'issue', 'misc'])

/**
 * A token for chosen repositories changes nothing but these, whatever its scopes say: one that could add a key, a hook or a team
 * would reach everything in the end. Elsewhere it reads what is public.
 * @throws Refusal 403 for a change
 */
function keepToRepositories(actor: Actor, rule: ScopeRule, method: string): Actor {
  if (actor.repositoryIds === undefined) return actor
  const areas = [rule].flat().map((need) => (typeof need === 'string' ? need : need.area))
  if (changes(method) && areas.some((area) => area !== 'misc')) throw forbidden(CHOSEN_ONLY)
  return areas.some((area) => FILTERED_AREAS.has(area)) ? actor : { ...actor, publicOnly: true }
}

const CHOSEN_ONLY = 'the token reaches chosen repositories only'

/** @throws Refusal 403 for a change of a public repository that is not among those which the token was made for */
export function requireChosen(actor: Actor | undefined, repositoryId: number, method: string): void {
  if (actor?.repositoryIds && !actor.repositoryIds.includes(repositoryId) && changes(method))
    throw forbidden(CHOSEN_ONLY)
}

/** Wire: GET, HEAD and OPTIONS need read, all other methods write. */
const changes = (method: string): boolean => !/^(GET|HEAD|OPTIONS)$/.test(method)
const levelOf = (method: string): ScopeLevel => (changes(method) ? 'write' : 'read')

/** @throws Refusal 403 naming the scopes, unless the actor's token holds all of them. */
export function requireScopes(actor: Actor, rule: ScopeRule, method: string): Actor {
  const { scopes } = actor
  if (scopes === undefined) return actor
  const level = levelOf(method)
  let publicOnly = actor.publicOnly
  for (const need of [rule].flat()) {
    const wanted: ScopeNeed = typeof need === 'string' ? { area: need } : need
    const verdict = judgeScopes(scopes, wanted, level)
    if (verdict === 'refused') throw missingScope(`${level}:${wanted.area}`, scopes)
    if (verdict === 'public-only') publicOnly = true
  }
  return publicOnly === actor.publicOnly ? actor : { ...actor, publicOnly }
}

const missingScope = (required: string, scopes: readonly string[]) =>
  forbidden(
    `token does not have at least one of required scope(s), required=[${required}], token scope=${scopes.join(',')}`,
    { requiredScopes: [required] },
  )
