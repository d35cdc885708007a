import type { Context } from '../context.ts'
import { notFound, type Refusal } from '../kernel/errors.ts'
import { wireTime } from '../kernel/time.ts'
import { inheritConnection } from './connection.ts'
import { corsHeaders, isPreflight, preflightResponse } from './cors.ts'
import { errorResponse, refusalResponse } from './errors.ts'
import { callerOf } from './gate.ts'
import { restoreLength } from './head.ts'
import { tokenEndOf } from './identify.ts'
import { spendRequest } from './rate-limit.ts'
import { inheritRequestId, loggedPath, requestId } from './request.ts'
import { isSafe } from './safe.ts'

type Fetch = (request: Request) => Response | Promise<Response>

/**
 * What concerns every request, whatever route it takes: the limit of requests, headers that all answers carry, the line in the
 * log. Nothing thrown inside leaves it.
 */
export function createHandler(context: Context, fetch: Fetch): Fetch {
  return async (request) => {
    const startedAt = performance.now()
    const response = await answer(context, fetch, request)
    restoreLength(request, response)
    return finish(context, request, { response, startedAt })
  }
}

/** What an answer needs that no route gives. It is there as soon as the port is open. */
export type Site = Pick<Context, 'config' | 'baseUrl' | 'log'>

/** The same for what no route shall see. */
export function refuseRequest(site: Site, request: Request, refusal: Refusal): Response {
  const startedAt = performance.now()
  return finish(site, request, { response: refusalResponse(site, refusal, request), startedAt })
}

interface Done {
  response: Response
  startedAt: number
}

function finish(site: Site, request: Request, { response, startedAt }: Done): Response {
  complete(site, request, response)
  logRequest(site, request, { status: response.status, startedAt })
  return response
}

async function answer(context: Context, fetch: Fetch, request: Request): Promise<Response> {
  try {
    if (isPreflight(request)) return preflightResponse(context.config, request)
    await spendRequest(context, request)
    if (!isReadablePath(loggedPath(request.url))) throw notFound()
    const response = await fetch(withSingleSlashes(request))
    // What this answer says was changed counts for the next request: of accounts and tokens, copies are kept.
    if (!isSafe(request)) await context.recognized.settle()
    return response
  } catch (error) {
    return errorResponse(context, { code: 'UNKNOWN', error, request })
  }
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

/** Wire: the family reads `/users//repos` as `/users/repos`. */
function withSingleSlashes(request: Request): Request {
  const { url } = request
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const double = url.indexOf('//', start)
  const query = url.indexOf('?')
  if (double < 0 || (query >= 0 && query < double)) return request
  const end = query < 0 ? url.length : query
  const single = new Request(
    url.slice(0, start) + url.slice(start, end).replace(/\/{2,}/g, '/') + url.slice(end),
    request,
  )
  inheritConnection(request, single)
  inheritRequestId(request, single)
  return single
}

/**
 * Wire: answers of the API are kept by nobody but the client, and never used without asking; routes that know better have said so.
 * Shared caches being shut out, nothing has to say that answers vary with the credential; the tags do.
 */
const PRIVATE = 'max-age=0, private, must-revalidate, no-transform'

/** A year, as browsers' lists ask for; not for hosts below this one, which may be somebody else's. */
const STRICT_TRANSPORT = 'max-age=31536000'

function complete({ config, baseUrl }: Site, request: Request, { headers }: Response): void {
  headers.set('x-request-id', requestId(request))
  headers.set('x-content-type-options', 'nosniff')
  // A token may stand in the address: no other site is told it.
  headers.set('referrer-policy', 'no-referrer')
  if (baseUrl.startsWith('https:')) headers.set('strict-transport-security', STRICT_TRANSPORT)
  if (!headers.has('cache-control')) headers.set('cache-control', PRIVATE)
  const tokenExpiresAt = tokenEndOf(request)
  if (tokenExpiresAt) headers.set('x-token-expires-at', wireTime(tokenExpiresAt))
  for (const [name, value] of corsHeaders(config, request)) headers.set(name, value)
}

function logRequest({ log }: Site, request: Request, done: { status: number; startedAt: number }): void {
  const caller = callerOf(request)
  log.info(
    {
      requestId: requestId(request),
      method: request.method,
      path: loggedPath(request.url),
      status: done.status,
      ms: Math.round((performance.now() - done.startedAt) * 10) / 10,
      user: caller?.user.name,
      sudo: caller?.sudoer?.name,
    },
    'request',
  )
}
