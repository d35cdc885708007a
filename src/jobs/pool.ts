import pg from 'pg'
import type { Sql } from '../../db/client.ts'
import { type Address, driverAddress } from '../../db/driver-address.ts'

/** One connection listens, the others claim and finish jobs; handlers use the application's own pool. */
const CONNECTIONS = 3
const APPLICATION = 'hearth jobs'

/** The queue library speaks through its own driver: a second, small pool to where `sql` goes. */
export function openJobsPool({ options }: { options: Address }): pg.Pool {
  const pool = new pg.Pool({
    ...driverAddress(options),
    max: CONNECTIONS,
    application_name: APPLICATION,
    connectionTimeoutMillis: 10_000,
    query_timeout: 30_000,
  })
  // Without listeners a connection that the server closes would end the process. The pool has dropped it by then.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

/** Whether a server, here or elsewhere, works on this database: each keeps a connection that waits for jobs. */
export async function isServed(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select 1 from pg_stat_activity where datname = current_database() and application_name = ${APPLICATION} limit 1`
  return rows.length > 0
}

function ignore(): void {}
