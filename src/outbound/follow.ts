import type { IncomingMessage } from 'node:http'
import { type ExchangeOptions, exchange } from './exchange.ts'
import { OutboundError } from './outbound-error.ts'

export interface OutboundRequest {
  url: string
  method: 'GET' | 'POST' | 'PUT'
  headers: Readonly<Record<string, string>>
  /** Names in lower case. Kept from every other origin that a redirect leads to. */
  secretHeaders: ReadonlySet<string>
  body?: string
}

export interface FollowOptions extends ExchangeOptions {
  limits: ExchangeOptions['limits'] & { maxRedirects: number }
}

/** 303 is left out: it asks for a GET, which would have no body. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308])

/**
 * The answer to a request, after its redirects. Its body is still to be read, or the message to be destroyed.
 * @throws OutboundError
 */
export async function follow(
  options: FollowOptions,
  first: OutboundRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let request = first
  for (let redirects = 0; ; redirects++) {
    const message = await exchange(options, { ...request, url: usable(request.url) }, signal)
    const location = REDIRECTS.has(message.statusCode ?? 0) ? message.headers.location : undefined
    if (location === undefined) return message
    message.destroy()
    if (redirects === options.limits.maxRedirects)
      throw new OutboundError('redirect', `more than ${redirects} redirects`)
    request = redirected(request, location)
  }
}

/** @throws OutboundError */
function usable(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new OutboundError('refused', 'not an http address')
  return url
}

function redirected(request: OutboundRequest, location: string): OutboundRequest {
  const from = new URL(request.url)
  const to = URL.parse(location, from)
  if (to === null) throw new OutboundError('redirect', 'a redirect to no address')
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    throw new OutboundError('redirect', 'a redirect from https to http')
  }
  if (from.origin === to.origin) return { ...request, url: to.href }
  const isPublic = ([name]: [string, string]) => !request.secretHeaders.has(name.toLowerCase())
  return { ...request, url: to.href, headers: Object.fromEntries(Object.entries(request.headers).filter(isPublic)) }
}
