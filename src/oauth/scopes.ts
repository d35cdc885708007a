import { apiScopes, CLAIM_SCOPES, isClaimScope, normaliseScopes, scopeAreas, unknownScope } from '../auth/scopes.ts'
import type { Config } from '../config.ts'

/**
 * What is granted for a `scope` as a client sends it: words of OpenID Connect, then normalised words of the API. Unknown words are
 * ignored and stand for nothing. Wire: commas separate too, and an area alone means writing, as the command line of Gitea sends them.
 */
export function grantedScopes(requested: string, { oauth2EmptyScope }: Pick<Config, 'oauth2EmptyScope'>): string[] {
  const { claims, api } = readScope(requested)
  return [...claims, ...(api.length === 0 && oauth2EmptyScope === 'all' ? ['all'] : api)]
}

/** The words of a `scope` that mean something. */
function readScope(requested: string): { claims: string[]; api: string[] } {
  const words = requested
    .split(/[\s,]+/)
    .map((word) => (scopeAreas.some((area) => area === word) ? `write:${word}` : word))
  const claims = CLAIM_SCOPES.filter((word) => words.includes(word))
  const api = normaliseScopes(words.filter((word) => unknownScope([word]) === undefined))
  return { claims, api }
}

/**
 * What a refresh asks for, out of what was granted (RFC 6749, 6). Without a scope it is all of it.
 * @returns undefined for more than was granted
 */
export function narrowedScopes(granted: readonly string[], requested: string | undefined): string[] | undefined {
  if (requested === undefined) return [...granted]
  const { claims, api } = readScope(requested)
  const words = [...claims, ...api]
  if (words.length === 0) return [...granted]
  if (!words.every((word) => covers(granted, word))) return undefined
  // A restriction stays whatever is asked for.
  const isRestricted = granted.includes('public-only') && !words.includes('public-only')
  return isRestricted ? [...claims, 'public-only', ...api] : words
}

/** Whether everything that the scopes have was granted before. */
export const areCovered = (scopes: readonly string[], granted: readonly string[]): boolean => {
  const isWider = granted.includes('public-only') && !scopes.includes('public-only')
  return !isWider && scopes.every((word) => covers(granted, word))
}

function covers(granted: readonly string[], word: string): boolean {
  if (granted.includes(word)) return true
  if (isClaimScope(word)) return false
  return word === 'public-only' || granted.includes('all') || granted.includes(word.replace(/^read:/, 'write:'))
}

/** RFC 6749, 3.3 and 5.1: the granted set, where a client has to hear of it. */
export function announcedScope(requested: string, granted: readonly string[]): string | undefined {
  const asked = new Set(requested.split(' ').filter((word) => word !== ''))
  const isSame = asked.size === granted.length && granted.every((word) => asked.has(word))
  return isSame ? undefined : granted.join(' ')
}

/** What was granted at first and later together. */
export function joinedScopes(first: readonly string[], more: readonly string[]): string[] {
  const isPublicOnly = first.includes('public-only') && more.includes('public-only')
  const all = [...first, ...more].filter((word) => word !== 'public-only' || isPublicOnly)
  return [...CLAIM_SCOPES.filter((word) => all.includes(word)), ...normaliseScopes(apiScopes(all))]
}
