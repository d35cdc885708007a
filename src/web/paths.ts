import type { Context } from '../context.ts'

type Site = Pick<Context, 'baseUrl'>

/** A path of ours as browsers have to ask for it: below the path of PUBLIC_URL, if that has one. */
export const addressOf = ({ baseUrl }: Site, local: string): string =>
  `${new URL(baseUrl).pathname.replace(/\/$/, '')}${local}`

/** Where somebody who has to sign in is sent, and from there back to where they were going. */
export const signInPath = (local: string): string => `/user/login?redirect_to=${encodeURIComponent(local)}`

/**
 * Where a form was told to lead afterwards: a path of this service, never an address of another. Browsers read `\` as `/`, drop
 * tabs and line ends, and take `//host` for a host.
 * @returns the path as our own routes know it; undefined for anything that is none
 */
export function localTarget({ baseUrl }: Site, given: string | undefined): string | undefined {
  if (given === undefined || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(given)) return undefined
  const base = new URL(baseUrl)
  const target = URL.parse(given, base)
  if (!target || target.origin !== base.origin) return undefined
  const below = base.pathname.replace(/\/$/, '')
  if (!target.pathname.startsWith(`${below}/`)) return undefined
  const path = target.pathname.slice(below.length)
  // Dots may have been all that stood between two slashes.
  return path.startsWith('//') ? undefined : `${path}${target.search}${target.hash}`
}
