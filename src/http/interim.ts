import type { Socket } from 'node:net'

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** Sends 100 for one request, the first time it is called. */
export interface Interim {
  send(): void
  /** The final answer begins: nothing may be sent before it any more. Returns whether 100 was. */
  end(): boolean
}

/**
 * RFC 9110, 10.1.1: a client that sends `Expect: 100-continue` holds its body back until it is asked for it, curl for a second.
 * Bun.serve asks by itself before anybody has looked at the request, but not on a port that node:http has opened. There the socket of
 * node:http takes the line. Returns the way to ask for the body of a native request, undefined where nobody waits. Like the front it
 * leans on Bun's ways, so tests read it from raw sockets.
 */
export const interimAnswer = (request: Request, socket: Socket): Interim | undefined =>
  isAwaiting(request) ? interim(socket) : undefined

/**
 * HTTP/1.0 must get none, but Bun tells no version: only a missing Host gives it away. One that names a host is asked, as Bun.serve
 * does; it would have to send a field that HTTP/1.0 has not.
 */
function isAwaiting({ method, headers }: Request): boolean {
  if (method === 'GET' || method === 'HEAD' || !headers.has('host')) return false
  if (headers.get('expect')?.trim().toLowerCase() !== '100-continue') return false
  return headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0
}

function interim(socket: Socket): Interim {
  let state: 'waiting' | 'sent' | 'ended' = 'waiting'
  return {
    send() {
      if (state !== 'waiting') return
      state = 'sent'
      if (socket.writable) socket.write(CONTINUE)
    },
    end() {
      const wasSent = state === 'sent'
      state = 'ended'
      return wasSent
    },
  }
}
