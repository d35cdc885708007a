import type { Server as NodeServer } from 'node:http'
import type { Socket } from 'node:net'
import type { SocketAddress } from 'bun'

/** A request whose answer is not yet on its way. */
export interface Pending {
  isNative: boolean
  /** The answer is with the kernel, and the next request may come. */
  isDone(): boolean
  /** Bun does nothing more for it. */
  isLetGo(): boolean
  /** Answers it at once with a refusal that ends its connection. */
  interrupt(): void
}

/** A connection of a client, under what node:http and native routes of Bun both know it. */
export interface Line {
  socket: Socket
  /** What was taken and is not answered, in the order it came. */
  pending: Pending[]
  /** From here on nothing that comes is read as a request. There is no way back. */
  deafen(): void
  /** Closes it when the answer that is being written is out. */
  closeWhenDrained(): void
}

/** Finds a connection by the socket that node:http has, or by the address that a native route is told. */
export interface Lines {
  find(peer: SocketAddress | null): Line | undefined
  findBySocket(socket: Socket): Line | undefined
}

/** Keeps the connections of a port that node:http has opened, which tells of each, while they are open. */
export function trackLines(bridge: NodeServer): Lines {
  const byPeer = new Map<string, Line>()
  const bySocket = new WeakMap<Socket, Line>()
  bridge.on('connection', (socket) => {
    const line = openLine(socket)
    if (!line) return
    const key = `${socket.remoteAddress} ${socket.remotePort}`
    byPeer.set(key, line)
    bySocket.set(socket, line)
    // The other end may have come back from the same port before this one is told to be closed.
    socket.once('close', () => byPeer.get(key) === line && byPeer.delete(key))
  })
  return {
    find: (peer) => (peer ? byPeer.get(`${peer.address} ${peer.port}`) : undefined),
    findBySocket: (socket) => bySocket.get(socket),
  }
}

/** What a socket of node:http does for native requests as well lies in Bun's own handle, which has no public name. */
function openLine(socket: Socket): Line | undefined {
  const name = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'handle')
  const handle: unknown = name && Reflect.get(socket, name)
  if (typeof handle !== 'object' || handle === null) return undefined
  const call = (method: string) => () => {
    // Once the socket is closed there is nothing left to do.
    const found: unknown = Reflect.get(handle, method)
    if (typeof found === 'function' && !socket.destroyed) Reflect.apply(found, handle, [])
  }
  if (!('stopParsing' in handle && 'closeWhenDrained' in handle)) return undefined
  return { socket, pending: [], deafen: call('stopParsing'), closeWhenDrained: call('closeWhenDrained') }
}
