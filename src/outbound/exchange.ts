import dns, { type LookupAddress } from 'node:dns'
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { HostPolicy } from '../kernel/host-policy.ts'
import { messageOf } from '../kernel/thrown.ts'
import { OutboundError } from './outbound-error.ts'

export interface ExchangeOptions {
  hosts: HostPolicy
  proxy?: string | undefined
  limits: { connectMs: number; firstByteMs: number }
}

export interface ExchangeRequest {
  url: URL
  method: string
  headers: Readonly<Record<string, string>>
  body?: string
}

/** Name of the host without the brackets of an IPv6 address. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/**
 * One request and the head of its answer, on a connection of its own: a socket that is used again would not be judged again.
 * @throws OutboundError
 */
export async function exchange(
  options: ExchangeOptions,
  { url, method, headers, body }: ExchangeRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = hostOf(url)
  // An address in the URL is never looked up.
  if (isIP(host) !== 0 && !options.hosts.allows(host, host)) throw refusal(host)
  const tunnel = options.proxy === undefined ? undefined : await openTunnel(options, url, signal)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = begin(
    url,
    {
      method,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body ?? '')) },
      agent: false,
      signal,
      lookup: judgedLookup(options.hosts),
      ...(tunnel && { createConnection: () => (url.protocol === 'https:' ? overTls(tunnel, host) : tunnel) }),
    },
    resolve,
  )
  request.on('error', (error) => reject(faultOf(error)))
  limitSilence(request, options.limits, tunnel !== undefined)
  request.end(body)
  return await promise
}

/** A header that cannot be written is thrown at once. Another try would not help. */
function begin(url: URL, options: RequestOptions, answer: (message: IncomingMessage) => void): ClientRequest {
  try {
    return url.protocol === 'https:' ? httpsRequest(url, options, answer) : httpRequest(url, options, answer)
  } catch (error) {
    throw new OutboundError('refused', `the request cannot be written: ${messageOf(error)}`, { cause: error })
  }
}

const refusal = (host: string) => new OutboundError('refused', `${host} is an address that this service may not reach`)

/** Resolves a name once and hands on the allowed addresses only, so what is judged is what is connected to. */
function judgedLookup(hosts: HostPolicy): LookupFunction {
  return (name, options, answer) => {
    dns.lookup(name, { ...options, all: true }, (error, found: LookupAddress[] = []) => {
      if (error) return answer(new OutboundError('lookup', `${name} has no address`, { cause: error }), [])
      const allowed = found.filter(({ address }) => hosts.allows(name, address))
      const [first] = allowed
      if (first === undefined) return answer(refusal(name), [])
      return options.all === true ? answer(null, allowed) : answer(null, first.address, first.family)
    })
  }
}

/** An own clock for connecting: the timeout of node:http counts from the connection on. */
function limitSilence(request: ClientRequest, { connectMs, firstByteMs }: ExchangeOptions['limits'], isOpen: boolean) {
  const expire = (message: string) => () => request.destroy(new OutboundError('timeout', message))
  const firstByte = setTimeout(expire(`no answer in ${firstByteMs / 1000} s`), firstByteMs)
  request.once('response', () => clearTimeout(firstByte))
  request.once('close', () => clearTimeout(firstByte))
  if (isOpen) return
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting) return
    const connecting = setTimeout(expire(`no connection in ${connectMs / 1000} s`), connectMs)
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(connecting))
  })
}

/** A tunnel through the proxy to an address that was resolved and judged here: the proxy is given no name to resolve anew. */
async function openTunnel(options: ExchangeOptions, url: URL, signal: AbortSignal): Promise<Socket> {
  const host = hostOf(url)
  const [address = host] = await allowedAddresses(options.hosts, host)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const target = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const request = httpRequest(new URL(options.proxy ?? ''), { method: 'CONNECT', path: target, agent: false, signal })
  request.once('connect', (answer, socket: Socket) => {
    if (answer.statusCode === 200) return resolve(socket)
    socket.destroy()
    return reject(new OutboundError('connect', `the proxy answers ${answer.statusCode}`))
  })
  request.on('error', (error) => reject(faultOf(error)))
  limitSilence(request, options.limits, false)
  request.end()
  return await promise
}

/**
 * Where the host of a URL leads, as far as it may be reached: for programs that connect by themselves and need the addresses.
 * @param host without the brackets of an IPv6 address
 * @throws OutboundError `refused`, `lookup`
 */
export async function allowedAddresses(hosts: HostPolicy, host: string): Promise<string[]> {
  if (isIP(host) !== 0) {
    if (hosts.allows(host, host)) return [host]
    throw refusal(host)
  }
  const { promise, resolve, reject } = Promise.withResolvers<string[]>()
  judgedLookup(hosts)(host, { all: true }, (error, found) => {
    if (error) reject(faultOf(error))
    else resolve([found].flat().map((one) => (typeof one === 'string' ? one : one.address)))
  })
  return promise
}

/** The certificate is checked against the name, whatever the address. */
const overTls = (socket: Socket, host: string) =>
  connectTls({ socket, ...(isIP(host) === 0 && { servername: host }), host })

const TLS_FAULT = /CERT|TLS|SSL|ALTNAME|SELF_SIGNED|UNABLE_TO_VERIFY/

function faultOf(error: Error & { code?: string }): Error {
  if (error instanceof OutboundError || error.name === 'AbortError' || error.name === 'TimeoutError') return error
  if (error.cause instanceof OutboundError) return error.cause
  const code = error.code ?? ''
  if (TLS_FAULT.test(code))
    return new OutboundError('tls', `the certificate is not accepted (${code})`, { cause: error })
  if (code === 'ECONNREFUSED') return new OutboundError('connect', 'the connection was refused', { cause: error })
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new OutboundError('lookup', 'the name has no address', { cause: error })
  return new OutboundError('broken', `the connection ended without an answer (${code || error.message})`, {
    cause: error,
  })
}
