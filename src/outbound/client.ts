import type { IncomingMessage } from 'node:http'
import type { HostPolicy } from '../kernel/host-policy.ts'
import { exchange } from './exchange.ts'
import { OutboundError } from './outbound-error.ts'

export interface OutboundRequest {
  url: string
  method: 'GET' | 'POST' | 'PUT'
  headers: Readonly<Record<string, string>>
  /** Names in lower case. Kept from every other origin that a redirect leads to. */
  secretHeaders: ReadonlySet<string>
  body?: string
}

export interface OutboundAnswer {
  status: number
  headers: Record<string, string>
  /** As text, cut at the limit. */
  body: string
  isCut: boolean
}

export interface OutboundLimits {
  connectMs: number
  /** From the request to the first byte of an answer. */
  firstByteMs: number
  /** From the beginning to the last byte, redirects included. */
  wholeMs: number
  maxBodyBytes: number
  maxRedirects: number
}

/** The limits for small messages, such as deliveries of hooks. */
export const outboundLimits = (wholeSeconds: number): OutboundLimits => ({
  connectMs: Math.min(5, wholeSeconds) * 1000,
  firstByteMs: wholeSeconds * 1000,
  wholeMs: wholeSeconds * 1000,
  maxBodyBytes: 64 * 1024,
  maxRedirects: 3,
})

export interface OutboundOptions {
  hosts: HostPolicy
  /** `http://host:port` of a proxy; the addresses behind it are judged here all the same. */
  proxy?: string | undefined
  limits: OutboundLimits
}

export interface Outbound {
  /** @throws OutboundError when there is no answer */
  send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer>
}

/** 303 is left out: it asks for a GET, which would tell the receiver nothing. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308])

/**
 * Requests to addresses that users give. Each connection is judged by the address that it is made to, after the name is resolved and
 * again after each redirect, so that a name that changes its mind reaches nothing inside. Only http and https.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const { limits } = options
  return {
    async send(request, signal) {
      const deadline = AbortSignal.timeout(limits.wholeMs)
      const stop = AbortSignal.any([signal, deadline])
      try {
        return await follow(options, request, stop)
      } catch (error) {
        signal.throwIfAborted()
        if (deadline.aborted) throw new OutboundError('timeout', `no whole answer in ${limits.wholeMs / 1000} s`)
        throw error
      }
    },
  }
}

async function follow(options: OutboundOptions, first: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
  let request = first
  for (let redirects = 0; ; redirects++) {
    const message = await exchange(options, { ...request, url: usable(request.url) }, signal)
    const location = REDIRECTS.has(message.statusCode ?? 0) ? message.headers.location : undefined
    if (location === undefined) return await read(message, options.limits, signal)
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

/** Reads as much as is kept, and ends the connection: the rest is never waited for. */
async function read(
  message: IncomingMessage,
  { maxBodyBytes }: OutboundLimits,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of message) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBodyBytes) break
    }
  } catch (error) {
    throw new OutboundError('broken', 'the connection ended in the middle of the answer', { cause: error })
  } finally {
    message.destroy()
  }
  // Under Bun the loop ends without an error where the signal ended the connection.
  signal.throwIfAborted()
  const whole = Buffer.concat(chunks)
  return {
    status: message.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(message.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
    ),
    body: whole.subarray(0, maxBodyBytes).toString('utf8'),
    isCut: size > maxBodyBytes,
  }
}
