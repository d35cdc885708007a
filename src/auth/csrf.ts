import type { SessionRow } from '../../db/schema/sessions.ts'
import type { Context } from '../context.ts'
import { forbidden } from '../kernel/errors.ts'
import { constantTimeEqual } from '../kernel/hashing.ts'

type Site = Pick<Context, 'baseUrl' | 'secrets'>

const PURPOSE = 'form token'

/** Name of the hidden field of our forms. */
export const FORM_TOKEN_FIELD = '_csrf'
/** The same for programs that send no form. */
const FORM_TOKEN_HEADER = 'x-csrf-token'

/** What the forms of a session carry. Only this instance can make it, and it ends with the cookie. */
export const formTokenOf = ({ secrets }: Pick<Context, 'secrets'>, session: Pick<SessionRow, 'secretHash'>): string =>
  Buffer.from(secrets.sign(PURPOSE, session.secretHash)).toString('base64url')

/** A page that was opened before the secret key changed can still be sent. */
const isFormToken = ({ secrets }: Site, { secretHash }: SessionRow, token: string): boolean =>
  secrets
    .signatures(PURPOSE, secretHash)
    .some((ours) => constantTimeEqual(token, Buffer.from(ours).toString('base64url')))

/** Whether a method changes nothing (RFC 9110, 9.2.1). */
export const isSafe = (method: string): boolean => /^(GET|HEAD|OPTIONS)$/.test(method)

interface Shown {
  session?: SessionRow | undefined
  formToken?: string | undefined
  /** Not the API, where programs have tokens. */
  isPage?: boolean | undefined
}

/**
 * Refuses what another site's page has sent in the name of whoever looks at it. A browser says where a request comes from, in
 * Sec-Fetch-Site or in Origin. One that says neither has to show the token of the session's forms. Wire: programs that drive the forms
 * of pages and keep the cookie themselves send neither, and no page of others can make them send anything.
 * @throws Refusal 403
 */
export function requireOwnRequest(site: Site, request: Request, { session, formToken, isPage = false }: Shown): void {
  if (isSafe(request.method)) return
  const isOwn = cameFromHere(site, request)
  if (isOwn === true || (isOwn === undefined && session === undefined)) return
  if (isOwn === undefined && isPage && !isBrowser(request)) return
  const token = formToken ?? request.headers.get(FORM_TOKEN_HEADER) ?? undefined
  if (isOwn === undefined && session && token !== undefined && isFormToken(site, session, token)) return
  throw forbidden('this request did not come from a page of this service', { withoutUrl: true })
}

/** All browsers begin so, for the sake of servers of the nineties; pages of other sites cannot change it in what they make a browser send. */
const isBrowser = ({ headers }: Request): boolean => headers.get('user-agent')?.startsWith('Mozilla/') ?? false

/** Undefined where the request says nothing of it: then no browser of this decade has sent it. */
function cameFromHere({ baseUrl }: Site, { headers, url }: Request): boolean | undefined {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || site === 'none'
  const origin = headers.get('origin')
  if (origin === null) return undefined
  // A service without PUBLIC_URL is reached by several names: then the request itself says by which.
  return origin === new URL(baseUrl).origin || origin === new URL(url).origin
}
