import type { Actor } from './actor.ts'

/**
 * Token scopes in both spellings: the areas that current clients send (`read:issue`, `write:repository`, `all`) and the
 * classic words of the specification (`repo`, `admin:org`, `user:email`). Both are stored as given, normalised, and judged by
 * one table of grants.
 */

/** Wire: the order in which answers list the areas. */
export const scopeAreas = [
  'activitypub',
  'admin',
  'misc',
  'notification',
  'organization',
  'package',
  'issue',
  'repository',
  'user',
] as const
export type ScopeArea = (typeof scopeAreas)[number]
export type ScopeLevel = 'read' | 'write'

/** A part of an area that a classic scope may open alone, such as the public keys of the user area. */
export type ScopePart =
  | 'status'
  | 'repo_hook'
  | 'org_hook'
  | 'public_key'
  | 'gpg_key'
  | 'email'
  | 'follow'
  | 'application'
  | 'delete_repo'

interface Grant {
  area: ScopeArea
  level: ScopeLevel
  /** Absent: the whole area. */
  part?: ScopePart
  /** True when the grant reaches public things only. */
  publicOnly?: boolean
}

const whole = (area: ScopeArea, level: ScopeLevel): Grant => ({ area, level })
const part = (area: ScopeArea, level: ScopeLevel, of: ScopePart): Grant => ({ area, level, part: of })
const publicly = (area: ScopeArea, level: ScopeLevel): Grant => ({ area, level, publicOnly: true })

/** The classic table of the specification, section "Scopes". */
const classicGrants: Record<string, Grant[]> = {
  repo: [whole('repository', 'write'), whole('issue', 'write'), part('user', 'write', 'delete_repo')],
  'repo:status': [part('repository', 'write', 'status')],
  public_repo: [publicly('repository', 'write'), publicly('issue', 'write')],
  'admin:repo_hook': [part('repository', 'write', 'repo_hook')],
  'write:repo_hook': [part('repository', 'write', 'repo_hook')],
  'read:repo_hook': [part('repository', 'read', 'repo_hook')],
  'admin:org': [whole('organization', 'write')],
  'write:org': [whole('organization', 'write')],
  'read:org': [whole('organization', 'read')],
  'admin:public_key': [part('user', 'write', 'public_key')],
  'write:public_key': [part('user', 'write', 'public_key')],
  'read:public_key': [part('user', 'read', 'public_key')],
  'admin:org_hook': [part('organization', 'write', 'org_hook')],
  notification: [whole('notification', 'write')],
  user: [whole('user', 'write')],
  'read:user': [whole('user', 'read')],
  'user:email': [part('user', 'write', 'email')],
  'user:follow': [part('user', 'write', 'follow')],
  delete_repo: [part('repository', 'write', 'delete_repo')],
  package: [whole('package', 'write')],
  'delete:package': [whole('package', 'write')],
  'admin:gpg_key': [part('user', 'write', 'gpg_key')],
  'write:gpg_key': [part('user', 'write', 'gpg_key')],
  'read:gpg_key': [part('user', 'read', 'gpg_key')],
  'admin:application': [part('user', 'write', 'application')],
  'write:application': [part('user', 'write', 'application')],
  'read:application': [part('user', 'read', 'application')],
  sudo: [whole('admin', 'write')],
}

const areaWords = new Map<string, Grant>(
  scopeAreas.flatMap((area) => [
    [`read:${area}`, whole(area, 'read')],
    [`write:${area}`, whole(area, 'write')],
  ]),
)

/** What a token without any scope may do: read public things (specification, section "Scopes", first row). */
const bareGrants: Grant[] = scopeAreas.filter((area) => area !== 'admin').map((area) => publicly(area, 'read'))

/** What a route asks of a token. Several needs must all be met. */
export interface ScopeNeed {
  area: ScopeArea
  part?: ScopePart
}

const grantsOf = (word: string): Grant[] | undefined => {
  const area = areaWords.get(word)
  if (area) return [area]
  return Object.hasOwn(classicGrants, word) ? classicGrants[word] : undefined
}

const isKnown = (word: string) => word === 'all' || word === 'public-only' || word === 'sudo' || !!grantsOf(word)

/** The first unknown word, so that the refusal can name it. */
export const unknownScope = (words: readonly string[]): string | undefined =>
  words.find((word) => !isKnown(word.trim()))

/**
 * Wire: answers are normalised. `public-only` comes first, then the areas in their order with write in place of read, then
 * classic words; all nine writes become `all`.
 */
export function normaliseScopes(words: readonly string[]): string[] {
  const given = new Set(words.map((word) => word.trim()))
  const prefix = given.has('public-only') ? ['public-only'] : []
  if (given.has('all')) return [...prefix, 'all']
  const areas = scopeAreas.flatMap((area) => {
    if (given.has(`write:${area}`)) return [`write:${area}`]
    return given.has(`read:${area}`) ? [`read:${area}`] : []
  })
  if (scopeAreas.every((area) => areas.includes(`write:${area}`))) return [...prefix, 'all']
  const classic = [...given].filter((word) => Object.hasOwn(classicGrants, word) && !areaWords.has(word)).sort()
  return [...prefix, ...areas, ...classic]
}

export type ScopeVerdict = 'refused' | 'public-only' | 'granted'

/** Judges normalised scopes against one need. `public-only`: go on, but see public things only. */
export function judgeScopes(scopes: readonly string[], need: ScopeNeed, level: ScopeLevel): ScopeVerdict {
  const limited: ScopeVerdict = scopes.includes('public-only') ? 'public-only' : 'granted'
  if (scopes.includes('all')) return limited
  const grants = scopes.length === 0 ? bareGrants : scopes.flatMap((word) => grantsOf(word) ?? [])
  const fitting = grants.filter((grant) => fits(grant, need, level))
  if (fitting.length === 0) return 'refused'
  return fitting.some((grant) => !grant.publicOnly) ? limited : 'public-only'
}

function fits(grant: Grant, need: ScopeNeed, level: ScopeLevel): boolean {
  if (grant.area !== need.area) return false
  if (grant.part !== undefined && grant.part !== need.part) return false
  return level === 'read' || grant.level === 'write'
}

/** Whether a token with these scopes may act as another user; the person must be an administrator besides. */
export const maySudo = (scopes: readonly string[]): boolean =>
  scopes.some((word) => word === 'all' || word === 'sudo' || word === 'write:admin')

/** OpenID Connect Core, 5.4, and the groups: what an application learns of a person. They open nothing of the API. */
export const CLAIM_SCOPES = ['openid', 'profile', 'email', 'groups'] as const

export const isClaimScope = (word: string): boolean => CLAIM_SCOPES.some((known) => known === word)

/** Of the scopes of an OAuth token, those that decide what it may do. */
export const apiScopes = (scopes: readonly string[]): string[] => scopes.filter((word) => !isClaimScope(word))

export const claimScopes = (scopes: readonly string[]): string[] => scopes.filter(isClaimScope)

/** What a route asks of a token: an area, a part of one, or several that must all be met. */
export type ScopeRule = ScopeArea | ScopeNeed | readonly (ScopeArea | ScopeNeed)[]

/** The actor as far as the token reaches here, or the scope that is missing. */
export type TokenVerdict = { actor: Actor; missing?: undefined } | { actor?: undefined; missing: string }

/**
 * Narrows the actor to what the token's scopes reach. Scopes stand across the levels of a repository: an administrator's token
 * for reading reads what only administrators may read, and changes nothing. So they are judged by area and kind of act, before the
 * subject is known, and `decideRights` gets them as `publicOnly`.
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
