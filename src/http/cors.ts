import type { Config } from '../config.ts'
import { pathOf } from './exchange.ts'

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
