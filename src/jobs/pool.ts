import pg from 'pg'
import type { Sql } from '../../db/client.ts'
import { type Address, driverAddress } from '../../db/driver-address.ts'
import { within } from './within.ts'

/** One connection listens, the others claim and finish jobs; handlers use the application's own pool. */
const CONNECTIONS = 3
const APPLICATION = 'hearth jobs'
/** Longer than the driver needs to end connections that answer. */
const CLOSE_MS = 2000

/** The queue library speaks through its own driver: a second, small pool to where `sql` goes. It connects at the first use. */
export class JobsPool extends pg.Pool {
  readonly #lent = new Set<pg.PoolClient>()

  constructor({ options }: { options: Address }) {
    super({
      ...driverAddress(options),
      max: CONNECTIONS,
      application_name: APPLICATION,
      connectionTimeoutMillis: 10_000,
      query_timeout: 30_000,
    })
    // Without listeners a connection that the server closes would end the process. The pool has dropped it by then.
    this.on('error', ignore)
    this.on('connect', (client) => client.on('error', ignore))
    this.on('acquire', (client) => this.#lent.add(client))
    this.on('release', (_, client) => this.#lent.delete(client))
  }

  /** Ends all connections, also those that somebody waits for in vain or has not given back. */
  async close(): Promise<void> {
    const end = this.end()
    if (await within(CLOSE_MS, end)) return
    for (const client of [...this.#lent]) client.release(true)
    await within(CLOSE_MS, end)
  }
}

/** Whether a server, here or elsewhere, works on this database: each keeps a connection that waits for jobs. */
export async function isServed(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select 1 from pg_stat_activity where datname = current_database() and application_name = ${APPLICATION} limit 1`
  return rows.length > 0
}

function ignore(): void {}
