import type { Server as NodeServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Server, SocketAddress } from 'bun'

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** Sends 100 for one request, the first time it is called. */
export interface Interim {
  send(): void
  /** The final answer begins: nothing may be sent before it any more. Returns whether 100 was. */
  end(): boolean
}

/**
 * RFC 9110, 10.1.1: a client that sends `Expect: 100-continue` holds its body back until it is asked for it, curl for a second.
 * Bun.serve asks by itself before anybody has looked at the request, but not on a port that node:http has opened. There node:http
 * tells of each connection, and its socket takes the line. Returns what finds the way to ask for the body of a native request,
 * undefined where nobody waits. Like the front it leans on Bun's ways, so tests read it from raw sockets.
 */
export function interimAnswers(
  bridge: NodeServer,
): (request: Request, server: Server<undefined>) => Interim | undefined {
  const sockets = new Map<string, Socket>()
  bridge.on('connection', (socket) => {
    const key = `${socket.remoteAddress} ${socket.remotePort}`
    sockets.set(key, socket)
    // The other end may have come back from the same port before this one is told to be closed.
    socket.once('close', () => sockets.get(key) === socket && sockets.delete(key))
  })
  return (request, server) => {
    const socket = isAwaiting(request) ? sockets.get(keyOf(server.requestIP(request))) : undefined
    return socket && interim(socket)
  }
}

const keyOf = (peer: SocketAddress | null): string => `${peer?.address} ${peer?.port}`

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
