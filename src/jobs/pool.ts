import pg from 'pg'
import { type Address, driverAddress } from '../../db/driver-address.ts'

/** One connection listens, the others claim and finish jobs; handlers use the application's own pool. */
const CONNECTIONS = 3

/** The queue library speaks through its own driver: a second, small pool to where `sql` goes. */
export function openJobsPool({ options }: { options: Address }): pg.Pool {
  const pool = new pg.Pool({
    ...driverAddress(options),
    max: CONNECTIONS,
    application_name: 'hearth jobs',
    connectionTimeoutMillis: 10_000,
    query_timeout: 30_000,
  })
  // Without listeners a connection that the server closes would end the process. The pool has dropped it by then.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

function ignore(): void {}
