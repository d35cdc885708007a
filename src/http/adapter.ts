import type { IncomingMessage, ServerResponse } from 'node:http'
import { badRequest, Refusal, tooLarge } from '../kernel/errors.ts'
import { within } from '../kernel/within.ts'
import { Exchange } from './exchange.ts'
import { cut, sendResponse } from './reply.ts'
import { bodyStream, hasBody } from './request-body.ts'

/** What answers the requests that the server reads. */
export interface Handlers {
  fetch(exchange: Exchange): Response | Promise<Response>
  /** The answer to a request that no route shall see. */
  refuse(exchange: Exchange, refusal: Refusal): Response
}

export interface RequestLimits {
  /** Longest address; more is 414. */
  maxUrlBytes: number
  /** Largest body of a request that says its length; more is 413. The routes set closer limits, and count what they read. */
  maxBodyBytes: number
  /** Longest silence of a client, and longest wait for each `PACE_BYTES` of a body, in either direction. */
  idleSeconds: number
}

export interface AdapterOptions extends RequestLimits {
  /** Whether each answer is the last of its connection. */
  isStopping(): boolean
}

/** A request as node:http hands it over. */
export interface Incoming {
  message: IncomingMessage
  reply: ServerResponse
  /** The client waits for `100 Continue` before it sends the body. */
  isWaiting: boolean
}

/** A client that is still sending when it is answered may do so for this long, so that it comes to read the answer. */
const LINGER_SECONDS = 5

/** Answers one request of node:http by web-standard handlers. Returns when the whole answer is out, or the client is gone. */
export async function answerIncoming(handlers: Handlers, options: AdapterOptions, incoming: Incoming): Promise<void> {
  const { message, reply } = incoming
  const { idleSeconds } = options
  try {
    const body = openBody(incoming, idleSeconds)
    const exchange = createExchange(incoming, body?.stream)
    const refusal = unfit(message, options)
    const response = refusal ? handlers.refuse(exchange, refusal) : await handlers.fetch(exchange)
    // The client was not asked for its body. What comes next may be the body or the next request (RFC 9110, 10.1.1).
    const isUnasked = body !== undefined && !body.isAsked()
    if (isUnasked || options.isStopping()) response.headers.set('connection', 'close')
    await sendResponse(reply, response, { isHead: message.method === 'HEAD', seconds: idleSeconds })
    await readRest(message, Math.min(LINGER_SECONDS, idleSeconds))
  } catch {
    // A body that fails half-way cannot be repaired: the client sees that something is missing. Its source has logged why.
    cut(reply)
  }
}

interface OpenBody {
  stream: ReadableStream<Uint8Array<ArrayBuffer>>
  /** Whether the client sends it, unasked or because it was asked. */
  isAsked(): boolean
}

function openBody({ message, reply, isWaiting }: Incoming, seconds: number): OpenBody | undefined {
  if (message.method === 'GET' || message.method === 'HEAD' || !hasBody(message)) return undefined
  let isAsked = !isWaiting
  const askForBody = () => {
    if (!isAsked && !reply.headersSent) reply.writeContinue()
    isAsked = true
  }
  return { stream: bodyStream({ message, seconds, askForBody }), isAsked: () => isAsked }
}

function createExchange(
  { message, reply }: Incoming,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | undefined,
): Exchange {
  const client = new AbortController()
  reply.once('close', () => {
    if (!reply.writableFinished) client.abort()
  })
  const headers = new Headers()
  for (let at = 0; at < message.rawHeaders.length; at += 2)
    headers.append(message.rawHeaders[at] ?? '', message.rawHeaders[at + 1] ?? '')
  const init = { method: message.method ?? 'GET', headers, body: body ?? null, signal: client.signal }
  return new Exchange(urlOf(message), init, { peerAddress: message.socket.remoteAddress })
}

/** Wire: the Gitea API reads `/users//repos` as `/users/repos`. A proxy may send the whole address (RFC 9112, 3.2.2). */
function urlOf({ url = '/', headers: { host } }: IncomingMessage): string {
  const target = url.startsWith('/') ? url : pathAndQuery(url)
  const query = target.indexOf('?')
  const path = (query < 0 ? target : target.slice(0, query)).replace(/\/{2,}/g, '/')
  return `http://${isHost(host) && host ? host : 'localhost'}${path}${query < 0 ? '' : target.slice(query)}`
}

function pathAndQuery(url: string): string {
  const whole = URL.parse(url)
  return whole ? `${whole.pathname}${whole.search}` : '/'
}

/**
 * RFC 9112, 3.2: what is no host and port is refused. The address that routes see begins with it, so `x/api?` would move the path.
 * Absent in HTTP/1.0.
 */
const isHost = (host: string | null | undefined): boolean =>
  !host || /^(?:[a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host)

export const addressTooLong = () => new Refusal(414, 'the address is too long')

/** What no route shall see. */
function unfit({ url = '', headers }: IncomingMessage, limits: RequestLimits): Refusal | undefined {
  if (url.length > limits.maxUrlBytes) return addressTooLong()
  if (!isHost(headers.host)) return badRequest('the Host header names no host')
  const isTooLarge = Number(headers['content-length'] ?? 0) > limits.maxBodyBytes
  return isTooLarge ? tooLarge(`the body is larger than ${limits.maxBodyBytes} bytes`) : undefined
}

/** Reads what is left of a body that nobody wanted: until then the client may not look at the answer. */
async function readRest(message: IncomingMessage, seconds: number): Promise<void> {
  if (message.complete || message.destroyed) return
  const { promise: end, resolve } = Promise.withResolvers<void>()
  message.once('end', resolve).once('close', resolve).resume()
  if (!(await within(seconds * 1000, end))) message.socket.destroy()
}
