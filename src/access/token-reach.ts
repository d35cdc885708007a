import type { Actor } from '../auth/actor.ts'
import { judgeScopes, type ScopeArea, type ScopeLevel, type ScopeNeed } from '../auth/scopes.ts'

/** What a route asks of a token: an area, a part of one, or several that must all be met. */
export type ScopeRule = ScopeArea | ScopeNeed | readonly (ScopeArea | ScopeNeed)[]

/** The actor as far as the token reaches here, or the scope that is missing. */
export type TokenVerdict = { actor: Actor; missing?: undefined } | { actor?: undefined; missing: string }

/**
 * Narrows the actor to what the token's scopes reach. Scopes stand across the levels of a repository: an administrator's token
 * for reading reads what only administrators may read, and changes nothing. So they are judged by area and kind of act, before the
 * subject is known, and `decideRights` hears of them as `publicOnly`.
 */
export function narrowByScopes(actor: Actor, rule: ScopeRule, isChange: boolean): TokenVerdict {
  const { scopes } = actor
  if (scopes === undefined) return { actor }
  const level: ScopeLevel = isChange ? 'write' : 'read'
  const needs = [rule].flat().map((need): ScopeNeed => (typeof need === 'string' ? { area: need } : need))
  const verdicts = needs.map((need) => judgeScopes(scopes, need, level))
  const missing = needs[verdicts.indexOf('refused')]
  if (missing) return { missing: `${level}:${missing.area}` }
  const publicOnly = actor.publicOnly || verdicts.includes('public-only')
  return { actor: publicOnly === actor.publicOnly ? actor : { ...actor, publicOnly } }
}

/** Areas whose lists leave out by themselves what a token for chosen repositories does not reach, and the one that has no owners. */
const FILTERED_AREAS: ReadonlySet<ScopeArea> = new Set(['repository', 'issue', 'misc'])

/**
 * Narrows a token for chosen repositories where no repository is judged with it: it changes nothing but these, whatever its scopes
 * say, since one that could add a key, a hook or a team would reach everything in the end. Elsewhere it reads what is public.
 * Undefined is a refusal.
 */
export function narrowToChosen(actor: Actor, rule: ScopeRule, isChange: boolean): Actor | undefined {
  if (actor.repositoryIds === undefined) return actor
  const areas = [rule].flat().map((need) => (typeof need === 'string' ? need : need.area))
  if (isChange && areas.some((area) => area !== 'misc')) return undefined
  return areas.some((area) => FILTERED_AREAS.has(area)) ? actor : { ...actor, publicOnly: true }
}
