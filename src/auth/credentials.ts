/** What a client presented, before anything is looked up. */
export type Credential =
  | { kind: 'token'; secret: string; isInQuery?: boolean }
  | { kind: 'basic'; name: string; password: string }
  | { kind: 'session'; secret: string }

/** The parts of a request that may hold a credential. */
export interface Presented {
  url: string
  authorization: string | undefined
  /** What @elysiajs/bearer read. It knows `Bearer` in this spelling alone. */
  bearer: string | undefined
  /** Value of the session's cookie. */
  session: string | undefined
  /** `access_token` of a form, or `token`. */
  bodyToken: string | undefined
}

type Reader = (presented: Presented) => Credential | undefined

/**
 * In the order in which they count: a token in the query or in a form goes before the header, and the header before the
 * cookie, which browsers send unasked.
 * An empty credential counts as none, and so does a header that cannot be read (another scheme, bad base64, no colon).
 */
const readers: readonly Reader[] = [readQueryToken, readBodyToken, readBearer, readTokenScheme, readBasic, readSession]

export function readCredential(presented: Presented): Credential | undefined {
  for (const read of readers) {
    const credential = read(presented)
    if (credential) return credential
  }
  return undefined
}

function readQueryToken({ url }: Presented): Credential | undefined {
  const secret = readQuery(url, ['token', 'access_token'])
  return secret === undefined ? undefined : { kind: 'token', secret, isInQuery: true }
}

/** RFC 6750, 2.2. Wire: goes before the header, as in the query. */
function readBodyToken({ bodyToken }: Presented): Credential | undefined {
  return bodyToken ? { kind: 'token', secret: bodyToken } : undefined
}

/** RFC 6750. */
function readBearer({ authorization, bearer }: Presented): Credential | undefined {
  const secret = authorization?.startsWith('Bearer ') ? bearer?.trim() : ''
  return secret ? { kind: 'token', secret } : undefined
}

/** Wire: `token x`. RFC 9110, 11.1: schemes are written in any letter case, `bearer` too. */
function readTokenScheme({ authorization }: Presented): Credential | undefined {
  const [, secret] = /^(?:token|bearer)\s+(\S.*)$/i.exec(authorization?.trim() ?? '') ?? []
  return secret === undefined ? undefined : { kind: 'token', secret }
}

function readSession({ session }: Presented): Credential | undefined {
  return session ? { kind: 'session', secret: session } : undefined
}

/** RFC 7617: base64 of `name:password`, UTF-8. */
function readBasic({ authorization }: Presented): Credential | undefined {
  const [, encoded] = /^basic\s+([A-Za-z0-9+/]+=*)$/i.exec(authorization?.trim() ?? '') ?? []
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
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
