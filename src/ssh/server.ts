import { createServer, type Server, type Socket } from 'node:net'
import { type Config, ConfigError } from '../config.ts'
import type { Context } from '../context.ts'
import { networkOf } from '../kernel/network.ts'
import { SshConnection } from './connection.ts'
import { loadHostKey } from './host-key.ts'
import { LimitedCount } from './limited-count.ts'

/** Git over SSH (RFC 4251 to 4254), listening. */
export interface SshServer {
  port: number
  /** Of the host key. */
  fingerprint: string
  /** Begins to serve; connections that came before have waited. */
  open(context: Context): void
  /** Takes no new connection, lets running commands end for as long as is given, then cuts them. */
  stop(graceSeconds: number): Promise<void>
}

/** Of one address (a /64 of IPv6) before a key was shown. Those with a key are not slowed down. */
const MAX_STRANGERS = 50
/** Of one account. */
const MAX_CONNECTIONS = 100
const MAX_COMMANDS = 50

/** @throws ConfigError for a host key that cannot be used, and for a port that is taken or not ours to take */
export async function openSshServer(config: Config): Promise<SshServer> {
  const hostKey = loadHostKey(config)
  const strangers = new LimitedCount(MAX_STRANGERS)
  const [connections, commands] = [new LimitedCount(MAX_CONNECTIONS), new LimitedCount(MAX_COMMANDS)]
  const sockets = new Set<Socket>()
  const served = new Set<SshConnection>()
  const { promise: opened, resolve: open } = Promise.withResolvers<Context>()
  const serve = (context: Context, socket: Socket, signedIn: () => void) => {
    if (socket.destroyed) return
    const connection = new SshConnection(socket, { context, hostKey, connections, commands, signedIn })
    served.add(connection)
    void connection.ended().then(() => served.delete(connection))
  }
  const server = createServer({ noDelay: true }, (socket) => {
    const signedIn = sockets.size < config.sshMaxConnections && strangers.take(networkOf(socket.remoteAddress ?? ''))
    if (!signedIn) return socket.destroy()
    sockets.add(socket)
    socket.on('error', () => undefined) // It is closed then, which is heard of.
    socket.once('close', () => {
      sockets.delete(socket)
      signedIn()
    })
    void opened.then((context) => serve(context, socket, signedIn))
  })
  const port = await listen(server, config)
  return {
    port,
    fingerprint: hostKey.fingerprint,
    open,
    async stop(graceSeconds) {
      server.close()
      for (const connection of served) connection.retire()
      const timer = setTimeout(() => cut(sockets), graceSeconds * 1000)
      if (served.size === 0) cut(sockets)
      while (served.size > 0) await Promise.all([...served].map((connection) => connection.ended()))
      clearTimeout(timer)
    },
  }
}

function cut(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) socket.destroy()
}

function listen(server: Server, { host, sshPort }: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new ConfigError(`SSH_PORT=${sshPort} cannot be used: ${error.message}. Set another, or SSH_ENABLED=false`))
    })
    server.listen(sshPort, host, () => {
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('SSH listens on no port'))
      else resolve(address.port)
    })
  })
}
