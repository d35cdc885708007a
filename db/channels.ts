import type { Sql } from './client.ts'
import { connect } from './connect.ts'

/** Messages of PostgreSQL (LISTEN and NOTIFY), for waking who waits. */
export interface Channels {
  /**
   * Calls `wake` when a message may have come: for each one that is heard, and after every moment in which one may have been missed.
   * Who must not miss anything looks by itself now and then, too.
   * @returns what ends it
   */
  listen(channel: string, wake: () => void): () => void
  close(): Promise<void>
}

export interface ChannelsOptions {
  url: string
  /** The application's pool, by which the connection is tried. */
  sql: Sql
  /** How often it is tried. A connection that is silent for three times as long is replaced. */
  beatSeconds?: number
  /** Behind the name of the connection: what other processes shall know of this one. */
  label?: string
}

/** How the name of the connection in `pg_stat_activity` begins. It has 63 bytes at most. */
export const LISTENER_NAME = 'hearth listener'

const BEAT_SECONDS = 5
const CONNECT_SECONDS = 10

/** One connection for all channels. It is opened with the first. */
export function openChannels({ url, sql, beatSeconds = BEAT_SECONDS, label = '' }: ChannelsOptions): Channels {
  const listeners = new Set<Listener>()
  let client: ListeningClient | undefined
  let timer: Timer | undefined
  const beat = () => {
    // The driver finds by itself a connection that was closed, but not one that has merely fallen silent.
    if (client && performance.now() - client.heardAt > 3 * beatSeconds * 1000) {
      client.end()
      client = new ListeningClient({ url, label }, listeners)
    }
    client?.beat(sql)
  }
  return {
    listen(channel, wake) {
      const listener = { channel, wake }
      listeners.add(listener)
      client ??= new ListeningClient({ url, label }, listeners)
      client.listen(listener)
      timer ??= setInterval(beat, beatSeconds * 1000)
      return () => void listeners.delete(listener)
    },
    async close() {
      clearInterval(timer)
      listeners.clear()
      await client?.end()
    },
  }
}

interface Listener {
  channel: string
  wake(): void
}

/** Lives until it falls silent. postgres.js opens its connection again when it was closed, and listens again. */
class ListeningClient {
  heardAt = performance.now()
  readonly #sql: ReturnType<typeof connect>
  readonly #listeners: ReadonlySet<Listener>
  readonly #channel = `hearth_beat_${crypto.randomUUID().replaceAll('-', '')}`

  constructor({ url, label }: { url: string; label: string }, listeners: ReadonlySet<Listener>) {
    this.#sql = connect(url, {
      max: 1,
      connect_timeout: CONNECT_SECONDS,
      onnotice: () => undefined,
      connection: { application_name: `${LISTENER_NAME} ${label}`.trim() },
    })
    this.#listeners = listeners
    this.#sql.listen(this.#channel, () => this.#hear()).catch(ignore)
    for (const listener of listeners) this.listen(listener)
  }

  listen(listener: Listener): void {
    const wake = () => {
      if (this.#listeners.has(listener)) listener.wake()
    }
    // A failure needs nothing: no beat is heard, and another client takes this one's place.
    this.#sql.listen(listener.channel, wake, wake).catch(ignore)
  }

  /** Sends itself a message over the pool. */
  beat(pool: Sql): void {
    pool`select pg_notify(${this.#channel}, '')`.catch(ignore)
  }

  end(): Promise<void> {
    return this.#sql.end({ timeout: 0 })
  }

  #hear(): void {
    this.heardAt = performance.now()
  }
}

function ignore(): void {}
