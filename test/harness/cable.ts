import { connect as connectTo, createServer, type Socket } from 'node:net'
import { listen } from './listen.ts'

/** A way to a server that can be cut and restored: what a network or a dying host does to a connection. */
export interface Cable {
  port: number
  /** Ends every connection; new ones are refused. */
  cut(): void
  /** Nothing passes any more, and nobody is told: a host that is gone, or a network that drops everything. */
  mute(): void
  /** New connections pass again. */
  reconnect(): void
  /** Ends the connections that are open now, once so many bytes more have come from the client; new ones pass. */
  cutAfter(bytes: number): void
  /** Resets the connection whose client next sends something with this text in it, which does not arrive. */
  resetAt(text: string): void
  close(): Promise<void>
}

/** @param target of the server: a port of the loopback address, or the path of a socket */
async function layCable(target: { port: number } | { path: string }): Promise<Cable> {
  let state: 'open' | 'cut' | 'mute' = 'open'
  let left = Number.POSITIVE_INFINITY
  let fatal: string | undefined
  const pairs = new Set<readonly [Socket, Socket]>()
  const endAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
    pairs.clear()
  }
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy()
    const beyond = connectTo(target)
    const pair = [client, beyond] as const
    pairs.add(pair)
    for (const socket of pair) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        for (const each of pair) each.destroy()
        pairs.delete(pair)
      })
    }
    client.on('data', (bytes) => {
      if (state === 'mute') return
      if (fatal !== undefined && bytes.includes(fatal)) {
        fatal = undefined
        return void client.resetAndDestroy()
      }
      left -= bytes.length
      if (left > 0) return void beyond.write(bytes)
      left = Number.POSITIVE_INFINITY
      endAll()
    })
    beyond.on('data', (bytes) => {
      if (state !== 'mute') client.write(bytes)
    })
  })
  const port = await listen(server)
  return {
    port,
    cut() {
      state = 'cut'
      endAll()
    },
    mute() {
      state = 'mute'
    },
    reconnect() {
      state = 'open'
    },
    cutAfter(bytes) {
      left = bytes
    },
    resetAt(text) {
      fatal = text
    },
    async close() {
      endAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The same to the database at an address. @returns its near end as an address, too */
export async function layCableToDatabase(databaseUrl: string): Promise<{ cable: Cable; url: string }> {
  const url = new URL(databaseUrl)
  const folder = url.searchParams.get('host')
  const cable = await layCable(
    folder === null ? { port: Number(url.port) } : { path: `${folder}/.s.PGSQL.${url.port || 5432}` },
  )
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String(cable.port)
  return { cable, url: url.href }
}
