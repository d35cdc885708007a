import { createServer, type Server, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { badRequest, Refusal } from '../kernel/errors.ts'
import { within } from '../kernel/within.ts'
import { addressTooLong, answerIncoming, type Handlers, type Incoming, type RequestLimits } from './adapter.ts'
import { type ConnectionOptions, trackConnections } from './connections.ts'
import { Exchange } from './exchange.ts'

export interface ServerOptions extends RequestLimits, ConnectionOptions {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Largest head of a request; more is 431. */
  maxHeaderBytes: number
}

export interface HttpServer {
  port: number
  /** Refuses new connections, lets running requests end for as long as is given, then cuts them. */
  stop(graceSeconds: number): Promise<void>
}

/** Longest time for the head of a request. It needs no more than one packet. */
const HEAD_SECONDS = 10

/** How often node:http looks for heads that take too long. */
const CHECK_MS = 1000

/** Opens the port. Everything is served through node:http: Bun.serve drops the body of a 205. */
export async function openServer(handlers: Handlers, options: ServerOptions): Promise<HttpServer> {
  const server = createServer({
    maxHeaderSize: options.maxHeaderBytes,
    headersTimeout: Math.min(HEAD_SECONDS, options.idleSeconds) * 1000,
    // The time of a body depends on its length: `Pace` limits it.
    requestTimeout: 0,
    keepAliveTimeout: options.idleSeconds * 1000,
    connectionsCheckingInterval: CHECK_MS,
  })
  const connectionOf = trackConnections(server, options)
  let isStopping = false
  const serve = (incoming: Incoming) => {
    const { socket } = incoming.message
    connectionOf(socket).serve(incoming, async () => {
      await answerIncoming(handlers, { ...options, isStopping: () => isStopping }, incoming)
      if (isStopping) server.closeIdleConnections()
    })
  }
  server.on('request', (message, reply) => serve({ message, reply, isWaiting: false }))
  server.on('checkContinue', (message, reply) => serve({ message, reply, isWaiting: true }))
  // What follows on it are bytes for somebody else.
  server.on('connect', (_, socket) => endWith(socket, handlers, new Refusal(501, 'this is no proxy')))
  server.on('clientError', (error: ReadError, socket) => {
    const refusal = refusalOf(error, options)
    if (!refusal || !(socket instanceof Socket)) socket.destroy()
    else connectionOf(socket).fail(() => endWith(socket, handlers, refusal))
  })
  const port = await listen(server, options)
  const stop = async (graceSeconds: number) => {
    isStopping = true
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    server.close(() => resolve())
    server.closeIdleConnections()
    if (!(await within(graceSeconds * 1000, closed))) server.closeAllConnections()
    await closed
  }
  return { port, stop }
}

interface ReadError extends NodeJS.ErrnoException {
  /** The bytes that came last. */
  rawPacket?: Buffer
}

/** Of the request that a packet begins with: an address longer than a whole head may be is too long all the same. 0 if it begins with none. */
function targetBytes(packet: Buffer | undefined): number {
  const [, target = ''] = /^[A-Z]+ (\S+)/.exec(packet?.toString('latin1') ?? '') ?? []
  return target.length
}

/** What node:http could not read: RFC 9110, 15.5. Undefined for a client that has gone, which needs no answer. */
function refusalOf(error: ReadError, { maxHeaderBytes, maxUrlBytes }: ServerOptions): Refusal | undefined {
  const { code, rawPacket } = error
  if (code === 'HPE_HEADER_OVERFLOW' && targetBytes(rawPacket) > maxUrlBytes) return addressTooLong()
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Refusal(431, `the head of the request is larger than ${maxHeaderBytes} bytes`)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal(408, 'the request came too slowly')
  if (code === 'HPE_INVALID_EOF_STATE' || !code?.startsWith('HPE_')) return undefined
  return badRequest('the request is no HTTP')
}

/** A refusal for a connection on which no request could be read. It is the last thing that is sent there. */
async function endWith(socket: Duplex, handlers: Handlers, refusal: Refusal): Promise<void> {
  if (!socket.writable) return void socket.destroy()
  const { status, headers, body } = handlers.refuse(new Exchange('http://localhost/'), refusal)
  const text = await new Response(body).text()
  headers.set('connection', 'close')
  headers.set('content-length', String(Buffer.byteLength(text)))
  const fields = [...headers].map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${text}`)
}

function listen(server: Server, { host, port }: ServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      if (typeof address === 'object' && address) resolve(address.port)
      else reject(new Error('the server listens on no port'))
    })
  })
}
