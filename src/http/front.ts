import { createServer, type ServerResponse } from 'node:http'
import type { Server } from 'bun'
import { badRequest, Refusal, tooLarge, unavailable } from '../kernel/errors.ts'
import { answerBridged, type Bridged, type FrontHandlers, interruptReply } from './bridge.ts'
import { connectServer } from './connection.ts'
import { headBytes, headTooLarge } from './head-size.ts'
import { isHost, withHost } from './host.ts'
import { type Interim, interimAnswer } from './interim.ts'
import { type Line, trackLines } from './lines.ts'
import { endAfterReply, interruptLine, isBusy, queueReply, takeTurn } from './turns.ts'

export interface FrontOptions {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Largest head of a request; more is 431. */
  maxHeaderBytes: number
  /** Longest address; more is 414. */
  maxUrlBytes: number
  /** Largest body of any request whose length is told; more is 413. The routes set closer limits, which count what is read. */
  maxBodyBytes: number
  /** Largest body on the paths of node:http, which is held in memory before anybody is asked who they are; more is 413. */
  maxHeldBytes: number
  /** A connection is cut that is silent for longer, not at once but within the next eight seconds; at most 255. */
  idleSeconds: number
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
  const { maxHeaderBytes, maxHeldBytes: maxBytes, idleSeconds: seconds } = options
  const held = { maxHeaderBytes, maxBytes, seconds }
  const bridge = createServer({ maxHeaderSize: NATIVE_SHARE * options.maxHeaderBytes }, (message, reply) =>
    bridged({ message, reply, ...held }),
  )
  bridge.on('checkContinue', (message, reply: ServerResponse) =>
    bridged({ message, reply, ...held, askForBody: () => reply.writeContinue() }),
  )
  const lines = trackLines(bridge)
  const bridged = (request: Bridged) => takeBridged(handlers, request, lines.findBySocket(request.message.socket))
  const native = (request: Request, server: Server<undefined>): Response | Promise<Response> => {
    const peer = server.requestIP(request)
    const line = lines.find(peer)
    // Its answers could not be kept apart.
    if (!line) return ending(handlers.refuse(request, unavailable('the connection is not known')))
    if (isBusy(line)) return interruptLine(line)
    const interim = interimAnswer(request, line.socket)
    connectServer(request, { server, address: peer?.address, interim })
    const refuse = () => {
      interim?.end()
      return ending(handlers.refuse(request, OVERTAKEN))
    }
    const refusal = unfit(request, options)
    // What is still coming of it is not read.
    const answered = refusal ? ending(handlers.refuse(request, refusal)) : handlers.fetch(withHost(request))
    return takeTurn({ line, request, server, refuse }, interim ? endInterim(answered, interim) : answered)
  }
  const extra = {
    // Bun would refuse more before it has asked anybody, in the middle of another answer.
    maxRequestBodySize: Number.POSITIVE_INFINITY,
    idleTimeout: idleTimeout(options.idleSeconds),
    // Where that is not said, what is thrown here is shown to the client with its code.
    development: false,
    routes: { '/*': native, ...Object.fromEntries(PATHS_WITH_205.map((path) => [path, false])) },
  }
  const server = await listen(bridge, extra, options)
  const port = server.port
  if (port === undefined) throw new Error('the server listens on no port')
  return { port, server, stop: (graceSeconds) => stop(server, graceSeconds) }
}

const OVERTAKEN = badRequest('the next request came before this one was answered')

function takeBridged(handlers: FrontHandlers, bridged: Bridged, line: Line | undefined): void {
  const { reply } = bridged
  if (!line) return void reply.destroy()
  if (isBusy(line) && line.pending[0]?.isNative) return void interruptLine(line)
  queueReply(line, reply, () => interruptReply(reply, OVERTAKEN))
  answerBridged(handlers, bridged)
    .then(() => endAfterReply(line, reply))
    // Who goes away in the middle of a body needs no answer.
    .catch(() => reply.destroy())
}

/** Up to so many times the limit a head that is too large is told so by us; with more Bun ends the connection, with 431 alone. */
const NATIVE_SHARE = 4

/** What no route shall see. */
function unfit(request: Request, { maxHeaderBytes, maxUrlBytes, maxBodyBytes }: FrontOptions): Refusal | undefined {
  const { method, url, headers } = request
  // Bun would keep its connection open when the client is gone.
  if (method === 'CONNECT') return new Refusal(501, 'this is no proxy')
  if (url.length > maxUrlBytes) return new Refusal(414, 'the address is too long')
  if (headBytes(request) > maxHeaderBytes) return headTooLarge(maxHeaderBytes)
  if (!isHost(headers.get('host'))) return badRequest('the Host header names no host')
  const isTooLarge = Number(headers.get('content-length') ?? 0) > maxBodyBytes
  return isTooLarge ? tooLarge(`the body is larger than ${maxBodyBytes} bytes`) : undefined
}

function ending(response: Response): Response {
  response.headers.set('connection', 'close')
  return response
}

/** What follows on a connection whose client was not asked for the body, is the body or the next request: nobody can tell. */
async function endInterim(answered: Response | Promise<Response>, interim: Interim): Promise<Response> {
  const response = await answered
  return interim.end() ? response : ending(response)
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
