/** What a client presented, before anything is looked up. */
export type Credential =
  | { kind: 'token'; secret: string; isInQuery?: boolean }
  | { kind: 'basic'; name: string; password: string }

/**
 * Reads the credential of a request. A token in the query goes before the header, and an empty one counts as none; a header
 * that cannot be read (another scheme, bad base64, no colon) counts as none too.
 */
export function readCredential(url: string, authorization: string | undefined): Credential | undefined {
  const queryToken = readQuery(url, ['token', 'access_token'])
  if (queryToken) return { kind: 'token', secret: queryToken, isInQuery: true }
  if (!authorization) return undefined
  const [, scheme = '', value = ''] = /^(\S+)\s+(.*)$/.exec(authorization.trim()) ?? []
  switch (scheme.toLowerCase()) {
    case 'token':
    case 'bearer':
      return value === '' ? undefined : { kind: 'token', secret: value }
    case 'basic':
      return readBasic(value)
    default:
      return undefined
  }
}

/** RFC 7617: base64 of `name:password`, UTF-8. */
function readBasic(value: string): Credential | undefined {
  if (!/^[A-Za-z0-9+/]+=*$/.test(value)) return undefined
  const text = Buffer.from(value, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { kind: 'basic', name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** The first value of the first of these keys that the query carries. Most requests have none, so the test is cheap. */
export function readQuery(url: string, keys: readonly string[]): string | undefined {
  const start = url.indexOf('?')
  if (start < 0) return undefined
  const query = url.slice(start + 1)
  if (!keys.some((key) => query.includes(key))) return undefined
  const values = new URLSearchParams(query)
  for (const key of keys) {
    const value = values.get(key)
    if (value) return value
  }
  return undefined
}
