import type { Context } from '../context.ts'

type Site = Pick<Context, 'baseUrl'>

/** A path of ours as browsers have to ask for it: below the path of PUBLIC_URL, if that has one. */
export const addressOf = ({ baseUrl }: Site, local: string): string =>
  `${new URL(baseUrl).pathname.replace(/\/$/, '')}${local}`

/**
 * Where somebody who has to sign in is sent, and from there on to where they were going.
 * @param address as `addressOf` makes it
 */
export const signInPath = (address: string | undefined): string =>
  address === undefined ? '/user/login' : `/user/login?redirect_to=${encodeURIComponent(address)}`

/** The same for who is signed in, and has to show again who they are. */
export const signInAgainPath = (address: string): string =>
  `/user/login?prompt=login&redirect_to=${encodeURIComponent(address)}`

/**
 * Where a form leads afterwards: a path of this service, never an address of another. Browsers read `\` as `/`, drop
 * tabs and line ends, and take `//host` for a host.
 * @returns the path as our own routes know it; undefined for anything that is none
 */
export function localTarget({ baseUrl }: Site, given: string | undefined): string | undefined {
  if (given === undefined || !/^\/[^\\\p{Cc}]*$/u.test(given)) return undefined
  const base = new URL(baseUrl)
  const target = URL.parse(given, base)
  if (!target || target.origin !== base.origin) return undefined
  const below = base.pathname.replace(/\/$/, '')
  if (!target.pathname.startsWith(`${below}/`)) return undefined
  const path = target.pathname.slice(below.length)
  // Dots may have been all that stood between two slashes.
  return path.startsWith('//') ? undefined : `${path}${target.search}${target.hash}`
}
