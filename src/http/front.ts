import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server } from 'bun'
import { badRequest, Refusal, tooLarge } from '../kernel/errors.ts'
import { connectServer, connectSocket, inheritConnection } from './connection.ts'
import { type Interim, interimAnswers } from './interim.ts'

export interface FrontOptions {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Largest head of a request; more is 431. */
  maxHeaderBytes: number
  /** Longest address; more is 414. */
  maxUrlBytes: number
  /** Largest body of any request; more is 413. The routes set closer limits. */
  maxBodyBytes: number
  /** Largest body on the paths of node:http, which is held in memory before anybody is asked who they are; more is 413. */
  maxHeldBytes: number
  /** A connection is cut that is silent for longer, not at once but within the next eight seconds; at most 255. */
  idleSeconds: number
}

export interface FrontHandlers {
  fetch(request: Request): Response | Promise<Response>
  /** Answer to what no route shall see. */
  refuse(request: Request, refusal: Refusal): Response
}

export interface Front {
  port: number
  server: Server<undefined>
  /** Refuses new connections, lets running requests end for as long as is given, then cuts them. */
  stop(graceSeconds: number): Promise<void>
}

/**
 * Paths whose PUT answers 205 with a body. Wire: clients expect the changed notifications there, and Bun.serve sends
 * every 205 without its body, whatever it is; node:http sends it.
 */
const PATHS_WITH_205 = [
  '/api/v1/notifications',
  '/api/v1/notifications/',
  '/api/v1/notifications/threads/:id',
  '/api/v1/notifications/threads/:id/',
  '/api/v1/repos/:owner/:repo/notifications',
  '/api/v1/repos/:owner/:repo/notifications/',
]

/**
 * Opens the port. node:http under Bun listens through Bun.serve; with routes added to that call Bun answers natively,
 * and only a path whose route is `false` reaches the node:http handler. Native requests cost 9-13 us against 22-25 us
 * through node:http. It leans on undocumented behaviour, so Bun is pinned and a test reads a 205 from a raw socket.
 */
export async function openFront(handlers: FrontHandlers, options: FrontOptions): Promise<Front> {
  const native = (request: Request, server: Server<undefined>) => {
    if (request.url.length > options.maxUrlBytes)
      return handlers.refuse(request, new Refusal(414, 'the address is too long'))
    if (!isHost(request.headers.get('host')))
      return handlers.refuse(request, badRequest('the Host header names no host'))
    const interim = interimFor(request, server)
    connectServer(request, server, interim)
    const answered = handlers.fetch(request.url.startsWith('/') ? withHost(request) : request)
    return interim ? endInterim(answered, interim) : answered
  }
  const held = { maxBytes: options.maxHeldBytes, seconds: options.idleSeconds }
  const bridged = (bridge: Bridged) => {
    // Who goes away in the middle of a body needs no answer.
    answer(handlers, bridge).catch(() => bridge.reply.destroy())
  }
  const bridge = createServer({ maxHeaderSize: options.maxHeaderBytes }, (message, reply) =>
    bridged({ message, reply, ...held }),
  )
  bridge.on('checkContinue', (message, reply: ServerResponse) =>
    bridged({ message, reply, ...held, askForBody: () => reply.writeContinue() }),
  )
  const interimFor = interimAnswers(bridge)
  const extra = {
    maxRequestBodySize: options.maxBodyBytes,
    idleTimeout: idleTimeout(options.idleSeconds),
    routes: { '/*': native, ...Object.fromEntries(PATHS_WITH_205.map((path) => [path, false])) },
  }
  const server = await listen(bridge, extra, options)
  const port = server.port
  if (port === undefined) throw new Error('the server listens on no port')
  return { port, server, stop: (graceSeconds) => stop(server, graceSeconds) }
}

/** What follows on a connection whose client was not asked for the body, is the body or the next request: nobody can tell. */
async function endInterim(answered: Response | Promise<Response>, interim: Interim): Promise<Response> {
  const response = await answered
  if (!interim.end()) response.headers.set('connection', 'close')
  return response
}

const TICK_SECONDS = 4
const MAX_IDLE_SECONDS = 255

/**
 * Bun counts silence in ticks of four seconds and rounds up, so the first one is over after any part of it: with `idleTimeout: 2` a
 * request that took 0.15 s was cut without a word. One tick more, and nothing is cut before its time.
 */
const idleTimeout = (seconds: number): number =>
  Math.min(MAX_IDLE_SECONDS, (Math.ceil(seconds / TICK_SECONDS) + 1) * TICK_SECONDS)

/** Bun.serve is replaced for the one call that `listen` makes of it, at once and before it returns. */
function listen(bridge: ReturnType<typeof createServer>, extra: object, { host, port }: FrontOptions) {
  const bunServe = Bun.serve
  let server: Server<undefined> | undefined
  const serveBoth = (options: object) => {
    server = Reflect.apply(bunServe, Bun, [{ ...options, ...extra }])
    return server
  }
  return new Promise<Server<undefined>>((resolve, reject) => {
    bridge.once('error', reject)
    bridge.once('listening', () => {
      if (server === undefined) reject(new Error('node:http did not listen through Bun.serve'))
      else resolve(server)
    })
    Reflect.set(Bun, 'serve', serveBoth)
    try {
      bridge.listen(port, host)
    } finally {
      Reflect.set(Bun, 'serve', bunServe)
    }
  })
}

/**
 * RFC 9112, 3.2: what is no host and port is refused. The address that routes see begins with it, so `x/api?` would move the path.
 * Absent in HTTP/1.0.
 */
const isHost = (host: string | null | undefined): boolean =>
  !host || /^(?:[a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host)

/** HTTP/1.0 knows requests without Host, as some probes of load balancers send them; their address is the path alone. */
function withHost(request: Request): Request {
  const whole = new Request(`http://localhost${request.url}`, request)
  inheritConnection(request, whole)
  return whole
}

interface Bridged {
  message: IncomingMessage
  reply: ServerResponse
  maxBytes: number
  /** For the whole body: Bun does not see here that nothing comes. */
  seconds: number
  /** For a client that waits to be asked. */
  askForBody?: () => void
}

async function answer(handlers: FrontHandlers, bridged: Bridged): Promise<void> {
  const { message, reply, maxBytes } = bridged
  const { host } = message.headers
  const url = `http://${isHost(host) && host ? host : 'localhost'}${message.url ?? '/'}`
  const hasBody = message.method !== 'GET' && message.method !== 'HEAD'
  const body = hasBody ? await readInTime(bridged) : null
  const request = new Request(url, {
    method: message.method ?? 'GET',
    headers: Object.entries(message.headers).flatMap(([name, value]): [string, string][] =>
      [value ?? []].flat().map((single) => [name, single]),
    ),
    body: body ?? null,
  })
  connectSocket(request, message.socket.remoteAddress)
  if (!isHost(host)) return send(message, reply, handlers.refuse(request, badRequest('the Host header names no host')))
  if (body !== undefined) return send(message, reply, await handlers.fetch(request))
  // What is still coming is not read.
  reply.setHeader('connection', 'close')
  await send(message, reply, handlers.refuse(request, tooLarge(`the body is larger than ${maxBytes} bytes`)))
}

function readInTime(bridged: Bridged) {
  const tooSlow = setTimeout(() => bridged.message.destroy(), bridged.seconds * 1000)
  return readAtMost(bridged).finally(() => clearTimeout(tooSlow))
}

/** Undefined when there is more. */
async function readAtMost({ message, maxBytes, askForBody }: Bridged): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  if (Number(message.headers['content-length'] ?? 0) > maxBytes) return undefined
  askForBody?.()
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

async function send(message: IncomingMessage, reply: ServerResponse, response: Response): Promise<void> {
  response.headers.forEach((value, name) => void reply.appendHeader(name, value))
  const body = new Uint8Array(await response.arrayBuffer())
  // RFC 9110, 8.6: the length of what is not sent again is not 0.
  reply.writeHead(response.status, response.status === 304 ? {} : { 'content-length': body.byteLength })
  reply.end(message.method === 'HEAD' ? undefined : body)
}

const IDLE_CHECK_MS = 20

async function stop(server: Server<undefined>, graceSeconds: number): Promise<void> {
  const drained = server.stop()
  const { promise: deadline, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, graceSeconds * 1000)
  // A connection that a client keeps for its next request counts as open, also one that became idle just now.
  const closer = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  await Promise.race([drained, deadline])
  clearTimeout(timer)
  clearInterval(closer)
  await server.stop(true)
}
