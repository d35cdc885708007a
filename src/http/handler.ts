import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { notFound, type Refusal } from '../kernel/errors.ts'
import { wireTime } from '../kernel/time.ts'
import { errorResponse, refusalResponse } from './errors.ts'
import { Exchange, pathOf } from './exchange.ts'
import { countVisitor } from './rate-limit.ts'

type Fetch = (request: Request) => Response | Promise<Response>

/** Answers a request that the server has read, or one that a test has made. */
type Answer = (request: Request) => Promise<Response>

/**
 * What concerns every request, whatever route it takes: the limit of requests, headers that all answers carry, the line in the
 * log. Nothing thrown inside leaves it.
 */
export function createHandler(context: Context, fetch: Fetch): Answer {
  return async (request) => {
    const exchange = request instanceof Exchange ? request : new Exchange(request.url, request)
    const response = await answer(context, fetch, exchange)
    restoreLength(exchange, response)
    return finish(context, exchange, response)
  }
}

/** What an answer needs that no route gives. It is there as soon as the port is open. */
export type Site = Pick<Context, 'config' | 'baseUrl' | 'log'>

/** The same for what no route shall see. */
export const refuseRequest = (site: Site, exchange: Exchange, refusal: Refusal): Response =>
  finish(site, exchange, refusalResponse(site, refusal, exchange))

function finish(site: Site, exchange: Exchange, response: Response): Response {
  complete(site, exchange, response)
  logRequest(site, exchange, response.status)
  return response
}

async function answer(context: Context, fetch: Fetch, request: Exchange): Promise<Response> {
  try {
    if (isPreflight(request)) return preflightResponse(context.config, request)
    const isReadable = isReadablePath(pathOf(request.url))
    const response = isReadable ? await fetch(request) : refusalResponse(context, notFound(), request)
    // What no gate has counted: pages, files that never change, paths that nobody has.
    await countVisitor(context, request)
    return response
  } catch (error) {
    return errorResponse(context, { code: 'UNKNOWN', error, request })
  }
}

/** Puts right what Elysia has written about the length of an answer to HEAD (RFC 9110, 8.6). */
function restoreLength(exchange: Exchange, { status, headers }: Response): void {
  if (exchange.method !== 'HEAD') return
  const { head } = exchange
  // A 304 would have the length of the answer that the client has.
  if (status === 304 || head) headers.delete('content-length')
  if (head?.bodyLength !== undefined) headers.set('content-length', String(head.bodyLength))
}

/**
 * A path that is no UTF-8 once decoded, or holds NUL, names nothing that can be. The router would hand on such a parameter
 * as missing, and PostgreSQL refuses NUL in a text.
 */
function isReadablePath(path: string): boolean {
  if (!path.includes('%')) return true
  try {
    return !decodeURIComponent(path).includes('\0')
  } catch {
    return false
  }
}

/**
 * Wire: only the client may cache answers of the API, and it must ask before each use. Some routes set another header.
 * Shared caches being shut out, nothing has to say that answers vary with the credential; the tags do.
 */
const PRIVATE = 'max-age=0, private, must-revalidate, no-transform'

/** A year, as browsers' lists ask for; not for hosts below this one, which may be somebody else's. */
const STRICT_TRANSPORT = 'max-age=31536000'

function complete({ config, baseUrl }: Site, exchange: Exchange, { headers }: Response): void {
  headers.set('x-request-id', exchange.id)
  headers.set('x-content-type-options', 'nosniff')
  // The address may hold a token, which no other site may see.
  if (!headers.has('referrer-policy')) headers.set('referrer-policy', 'no-referrer')
  if (baseUrl.startsWith('https:')) headers.set('strict-transport-security', STRICT_TRANSPORT)
  if (!headers.has('cache-control')) headers.set('cache-control', PRIVATE)
  if (exchange.tokenExpiresAt) headers.set('x-token-expires-at', wireTime(exchange.tokenExpiresAt))
  for (const [name, value] of corsHeaders(config, exchange)) headers.set(name, value)
}

function logRequest({ log }: Site, { id, method, url, startedAt, admitted }: Exchange, status: number): void {
  log.info(
    {
      requestId: id,
      method,
      path: pathOf(url),
      status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      user: admitted?.actor?.user.name,
      sudo: admitted?.actor?.sudoer?.name,
    },
    'request',
  )
}

type CorsConfig = Pick<Config, 'corsOrigins'>

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const HEADERS = 'Authorization, Content-Type, If-None-Match, Sudo, X-Service-OTP, X-Gitea-OTP'

/** A browser asking whether another origin's page may send a request (Fetch standard, CORS-preflight). */
export const isPreflight = ({ method, headers }: Request): boolean =>
  method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')

export function preflightResponse(config: CorsConfig, request: Request): Response {
  const allowed = corsHeaders(config, request)
  const headers = new Headers(allowed)
  if (allowed.length > 0) {
    headers.set('access-control-allow-methods', METHODS)
    headers.set('access-control-allow-headers', HEADERS)
    headers.set('access-control-max-age', '600')
  }
  return new Response(null, { status: 204, headers })
}

/** RFC 9700, 2.6: where people give their consent no other site's script has a part. */
const NEVER = ['/login/oauth/authorize', '/login/oauth/grant', '/login/oauth/logout']

/** Never `Access-Control-Allow-Credentials`: pages of other origins bring their token, not the cookie, so `*` stays harmless. */
export function corsHeaders({ corsOrigins }: CorsConfig, request: Request): [string, string][] {
  const origin = request.headers.get('origin')
  if (origin === null || corsOrigins.length === 0 || NEVER.includes(pathOf(request.url))) return []
  if (corsOrigins.includes('*')) return [['access-control-allow-origin', '*']]
  const vary: [string, string] = ['vary', 'origin']
  return corsOrigins.includes(origin) ? [['access-control-allow-origin', origin], vary] : [vary]
}
