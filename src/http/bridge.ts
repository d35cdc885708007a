import type { IncomingMessage, ServerResponse } from 'node:http'
import { badRequest, type Refusal, tooLarge } from '../kernel/errors.ts'
import { connectSocket } from './connection.ts'
import { headBytes, headTooLarge } from './head-size.ts'
import { isHost } from './host.ts'

export interface FrontHandlers {
  fetch(request: Request): Response | Promise<Response>
  /** Answer to what no route shall see. */
  refuse(request: Request, refusal: Refusal): Response
}

/** A request that came by node:http. */
export interface Bridged {
  message: IncomingMessage
  reply: ServerResponse
  maxHeaderBytes: number
  maxBytes: number
  /** For the whole body: Bun does not see here that nothing comes. */
  seconds: number
  /** For a client that waits to be asked. */
  askForBody?: () => void
}

/** Takes it the way of all others, in the order of its connection. */
export async function answerBridged(handlers: FrontHandlers, bridged: Bridged): Promise<void> {
  const { message, reply, maxBytes, maxHeaderBytes } = bridged
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
  const refuse = (refusal: Refusal) => send(message, reply, handlers.refuse(request, refusal))
  if (!isHost(host)) return refuse(badRequest('the Host header names no host'))
  if (headBytes(request) > maxHeaderBytes) return refuse(headTooLarge(maxHeaderBytes))
  if (body !== undefined) return send(message, reply, await handlers.fetch(request))
  // What is still coming is not read.
  reply.setHeader('connection', 'close')
  await refuse(tooLarge(`the body is larger than ${maxBytes} bytes`))
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
  const body = new Uint8Array(await response.arrayBuffer())
  if (reply.headersSent) return
  response.headers.forEach((value, name) => void reply.appendHeader(name, value))
  // RFC 9110, 8.6: the length of what is not sent again is not 0.
  reply.writeHead(response.status, response.status === 304 ? {} : { 'content-length': body.byteLength })
  reply.end(message.method === 'HEAD' ? undefined : body)
}

/** For a request that cannot be answered as it should, from inside of another: at once, and the connection ends. */
export function interruptReply(reply: ServerResponse, { status, message }: Refusal): void {
  if (reply.headersSent) return
  const head = { connection: 'close', 'content-type': 'text/plain;charset=utf-8', 'content-length': message.length }
  reply.writeHead(status, head).end(message)
}
