import pg from 'pg'
import type { Sql } from './client.ts'
import { driverAddress } from './driver-address.ts'

export interface ListenerOptions {
  channel: string
  /** One message of the channel. */
  heard(payload: string): void
  /** From now on messages may be missed: what relies on them must be forgotten. */
  deaf(reason: unknown): void
  /** How often the way of the messages is tried. One that is lost without a word is noticed within twice this time. */
  beatMs?: number
}

/** Hears of what other processes commit. */
export interface Listener {
  /** True while every message is known to arrive. */
  readonly isLive: boolean
  /** Resolves when the messages of all that was committed before the call have been heard, or the listener is deaf. */
  settle(): Promise<void>
  start(): void
  stop(): void
}

const BEAT_MS = 5000

/**
 * Listens on a connection of its own, and makes a new one when it is lost. It is live once a message that was sent over
 * the pool came back by it, and while they go on doing so: a pooler that swallows messages, or a connection that stayed
 * with a former primary, is noticed.
 */
export function createListener(sql: Sql, options: ListenerOptions): Listener {
  const { beatMs = BEAT_MS, deaf } = options
  let line: Line | undefined
  let timer: Timer | undefined
  let isStopped = false
  const lose = (lost: Line, reason: unknown) => {
    if (line !== lost) return
    line = undefined
    deaf(reason)
    lost.close()
  }
  const beat = async () => {
    const own = line ?? new Line(sql, { ...options, beatMs, lost: (reason) => lose(own, reason) })
    line = own
    await own.beat().catch((error: unknown) => lose(own, error))
    if (!isStopped) timer = setTimeout(() => void beat(), beatMs)
  }
  return {
    get isLive() {
      return line?.isLive === true
    },
    async settle() {
      const own = line
      if (own?.isLive === true) await own.settle().catch((error: unknown) => lose(own, error))
    },
    start: () => void beat(),
    stop() {
      isStopped = true
      clearTimeout(timer)
      if (line !== undefined) lose(line, new Error('stopped'))
    },
  }
}

interface LineOptions extends Required<ListenerOptions> {
  lost(reason: unknown): void
}

/** One connection that listens, for as long as it lasts. */
class Line {
  isLive = false
  readonly #sql: Sql
  readonly #options: LineOptions
  readonly #client: pg.Client
  readonly #opened: Promise<unknown>
  readonly #beatText = `beat ${crypto.randomUUID()}`
  #returned: (() => void) | undefined
  /** The question that is on its way, and the one that all who come meanwhile wait for. */
  #asked: Promise<unknown> = Promise.resolve()
  #next: Promise<unknown> | undefined

  constructor(sql: Sql, options: LineOptions) {
    this.#sql = sql
    this.#options = options
    this.#client = new pg.Client({
      ...driverAddress(sql.options),
      application_name: 'hearth listener',
      connectionTimeoutMillis: options.beatMs,
      query_timeout: options.beatMs,
    })
    this.#client.on('error', options.lost)
    this.#client.on('end', () => options.lost(new Error('the connection has ended')))
    this.#client.on('notification', ({ payload = '' }) => this.#hear(payload))
    this.#opened = this.#client
      .connect()
      .then(() => this.#client.query(`listen ${this.#client.escapeIdentifier(options.channel)}`))
  }

  /** Sends a message by the pool and waits for it. */
  async beat(): Promise<void> {
    await this.#opened
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#returned = resolve
    const timer = setTimeout(() => reject(new Error('a message did not arrive in time')), this.#options.beatMs)
    try {
      await Promise.all([promise, this.#sql`select pg_notify(${this.#options.channel}, ${this.#beatText})`])
      this.isLive = true
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * PostgreSQL wakes those who listen before it answers a commit, and hands out what waits for them before it answers
   * their next statement.
   */
  async settle(): Promise<void> {
    this.#next ??= this.#asked.then(() => {
      this.#next = undefined
      this.#asked = this.#client.query('select 1')
      return this.#asked
    })
    await this.#next
  }

  close(): void {
    this.isLive = false
    // It may be the connection itself that failed.
    this.#client.end().catch(() => undefined)
  }

  #hear(payload: string): void {
    if (payload === this.#beatText) this.#returned?.()
    // Those of other processes are none of ours.
    else if (!payload.startsWith('beat ')) this.#options.heard(payload)
  }
}
