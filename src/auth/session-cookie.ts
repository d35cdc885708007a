import type { Context } from '../context.ts'
import type { NewSession } from './sessions.ts'

type Site = Pick<Context, 'baseUrl'>

/** RFC 6265bis, 4.1.3.2: no other host and no page over http can set a cookie of this prefix. */
const nameOf = ({ baseUrl }: Site, name: string): string =>
  baseUrl.startsWith('https:') ? `__Host-hearth_${name}` : `hearth_${name}`

/**
 * Our cookies: the session, what is known of a sign-in that waits for its second step, a sign-in that somebody has gone elsewhere for,
 * and who came back from there and belongs to no account yet.
 */
export type CookieName = 'session' | 'sign_in' | 'provider' | 'newcomer'

/** The value of one of our cookies. */
export function readCookie(site: Site, { headers }: Request, name: CookieName): string | undefined {
  const cookies = headers.get('cookie')
  const wanted = nameOf(site, name)
  // Most requests have none.
  if (!cookies?.includes(wanted)) return undefined
  for (const pair of cookies.split(';')) {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals).trim() === wanted) return pair.slice(equals + 1).trim()
  }
  return undefined
}

/**
 * A value of Set-Cookie. No script reads it, and requests that another site's page makes carry it only where somebody follows a link.
 * @param seconds how long the browser keeps it; undefined: until it is closed
 */
export function writeCookie(site: Site, name: CookieName, value: string, seconds: number | undefined): string {
  const secure = site.baseUrl.startsWith('https:') ? '; Secure' : ''
  const age = seconds === undefined ? '' : `; Max-Age=${seconds}`
  return `${nameOf(site, name)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}${age}`
}

export const clearCookie = (site: Site, name: CookieName): string => writeCookie(site, name, '', 0)

/** The cookie of a new or rotated session. */
export function sessionCookie(context: Pick<Context, 'baseUrl' | 'clock'>, { secret, row }: NewSession): string {
  const left = Math.floor((row.expiresAt.getTime() - context.clock.now().getTime()) / 1000)
  return writeCookie(context, 'session', secret, row.isRemembered ? Math.max(0, left) : undefined)
}
