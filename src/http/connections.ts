import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../kernel/network.ts'
import type { Incoming } from './adapter.ts'

export interface ConnectionOptions {
  /** Connections of one IPv4 address, or of one /64 of IPv6, at once; 0 is no limit. */
  maxConnectionsPerAddress: number
}

/** Nobody sends more requests before the first answer; each is held in memory. */
const MAX_WAITING = 100

/** A connection of a client. It answers one request at a time, in the order they came (RFC 9112, 9.3.2). */
export class Connection {
  readonly #socket: Socket
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  #current: Incoming | undefined

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Answers a request once all that came before it are answered. */
  serve(incoming: Incoming, answer: () => Promise<void>): void {
    this.#enqueue(async () => {
      this.#current = incoming
      await answer()
      this.#current = undefined
    })
  }

  /** What came is no HTTP. What came before it is still answered, unless it is the body of just that request. */
  fail(refuse: () => Promise<void>): void {
    if (!this.#current || this.#current.message.complete) this.#enqueue(refuse)
    else if (this.#current.reply.headersSent) this.#socket.destroy()
    else void refuse()
  }

  #enqueue(step: () => Promise<void>): void {
    this.#waiting += 1
    if (this.#waiting > MAX_WAITING) this.#socket.destroy()
    this.#last = this.#last.then(async () => {
      this.#waiting -= 1
      if (!this.#socket.destroyed) await step()
    })
  }
}

/** Finds the open connections of a server by their sockets, and limits how many come from one address. */
export function trackConnections(server: Server, options: ConnectionOptions): (socket: Socket) => Connection {
  const open = new Map<Socket, Connection>()
  const counts = new Map<string, number>()
  const add = (network: string, difference: number): number => {
    const count = (counts.get(network) ?? 0) + difference
    if (count === 0) counts.delete(network)
    else counts.set(network, count)
    return count
  }
  server.on('connection', (socket) => {
    const network = networkOf(socket.remoteAddress ?? '')
    open.set(socket, new Connection(socket))
    const count = add(network, 1)
    socket.once('close', () => {
      open.delete(socket)
      add(network, -1)
    })
    const limit = options.maxConnectionsPerAddress
    if (limit > 0 && count > limit) socket.destroy()
  })
  return (socket) => {
    const connection = open.get(socket) ?? new Connection(socket)
    open.set(socket, connection)
    return connection
  }
}
