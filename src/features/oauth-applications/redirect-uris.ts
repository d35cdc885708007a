import type { OAuthApplicationRow } from '../../../db/schema/oauth.ts'

const MAX_LENGTH = 2048

/** Graphic ASCII without what browsers read in another way than programs do. */
const PLAIN = /^[^\s"<>\\^`{|}#*]+$/

/** RFC 8252, 7.1: the scheme of a program of its own begins with a domain in reverse. This leaves out `javascript:` and its like. */
const OWN_SCHEME = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/

/** Why an address cannot be registered to send people back to; undefined for one that can. */
export function redirectUriFault(uri: string): string | undefined {
  if (uri.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  const url = /^[\x21-\x7e]+$/.test(uri) && PLAIN.test(uri) ? URL.parse(uri) : null
  if (url === null) return 'is no address, or has a fragment or characters that must be percent-encoded'
  if (OWN_SCHEME.test(url.protocol)) return undefined
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return 'has a scheme that is not allowed: http, https, or one of an app, such as org.example.app'
  if (!/^https?:\/\/[^/?]/i.test(uri)) return 'has no host'
  return url.username === '' && url.password === '' ? undefined : 'has a user or password'
}

/**
 * Whether people may be sent there: to exactly what is registered (RFC 9700, 2.1), where an empty path is the same as "/". RFC 8252, 7.3:
 * a program on the person's own machine listens on any port, by an address and not by a name.
 */
export function isRegisteredRedirect(
  { isConfidential, redirectUris }: Pick<OAuthApplicationRow, 'isConfidential' | 'redirectUris'>,
  uri: string,
): boolean {
  const asked = withRoot(uri)
  const withoutPort = isConfidential ? undefined : loopbackWithoutPort(asked)
  return redirectUris.map(withRoot).some((registered) => {
    if (registered === asked) return true
    return withoutPort !== undefined && loopbackWithoutPort(registered) === withoutPort
  })
}

const withRoot = (uri: string): string => (/^https?:\/\/[^/?#]+$/.test(uri) ? `${uri}/` : uri)

/** Undefined for what is no loopback address. */
function loopbackWithoutPort(uri: string): string | undefined {
  const [, host, port, rest] = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?([/?].*)$/.exec(uri) ?? []
  return host === undefined || Number(port ?? 0) > 65_535 ? undefined : `${host}${rest}`
}
