import type { IncomingMessage } from 'node:http'
import type { HostPolicy } from '../kernel/host-policy.ts'
import { follow, type OutboundRequest } from './follow.ts'
import { OutboundError } from './outbound-error.ts'

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
        return await read(await follow(options, request, stop), limits, stop)
      } catch (error) {
        signal.throwIfAborted()
        if (deadline.aborted) throw new OutboundError('timeout', `no whole answer in ${limits.wholeMs / 1000} s`)
        throw error
      }
    },
  }
}

/** Reads as much as is stored, and ends the connection: the rest is never waited for. */
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
