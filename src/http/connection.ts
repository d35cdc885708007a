import type { Server } from 'bun'
import type { Interim } from './interim.ts'

/** What a request's connection can tell or do. Kept beside the request, because only the front knows the server. */
interface Connection {
  address(): string | undefined
  setTimeout(seconds: number): void
  /** Where the client waits to be asked for the body. */
  interim?: Interim
}

const connections = new WeakMap<Request, Connection>()

interface Served {
  server: Server<undefined>
  address: string | undefined
  interim?: Interim
}

/** For the front: remembers who sent the request, which server took it, and whether its client waits to be asked for the body. */
export function connectServer(request: Request, { server, address, interim }: Served): void {
  connections.set(request, {
    address: () => address,
    setTimeout: (seconds) => server.timeout(request, seconds),
    interim,
  })
}

/** For the front's second way in, where the socket is at hand. */
export function connectSocket(request: Request, address: string | undefined): void {
  connections.set(request, { address: () => address, setTimeout: () => undefined })
}

/** For a request that is made anew from another: it came over the same connection. */
export function inheritConnection(from: Request, to: Request): void {
  const connection = connections.get(from)
  if (connection) connections.set(to, connection)
}

/** Address of the other end of the connection, a proxy's if there is one. Undefined without a connection. */
export const peerAddress = (request: Request): string | undefined => connections.get(request)?.address()

/** Lets a request be silent for longer than others: Git may compute for minutes before the first byte. 0 is no limit. */
export const setIdleSeconds = (request: Request, seconds: number): void => connections.get(request)?.setTimeout(seconds)

/**
 * To be called before a body is read, once all is judged that can be without it: a client that waits for this word (RFC 9110, 10.1.1)
 * then sends a body that is wanted, and never one whose request is refused.
 */
export const askForBody = (request: Request): void => connections.get(request)?.interim?.send()
