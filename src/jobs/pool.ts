import pg from 'pg'
import type { Sql } from '../../db/client.ts'

/** One connection listens, the others claim and finish jobs; handlers use the application's own pool. */
const CONNECTIONS = 3

type Address = Pick<Sql['options'], 'host' | 'port' | 'path' | 'user' | 'pass' | 'database' | 'ssl'>

/** The queue library speaks through its own driver: a second, small pool to where `sql` goes. */
export function openJobsPool({ options }: { options: Address }): pg.Pool {
  const pool = new pg.Pool({
    // pg takes the folder of a socket where postgres.js has the whole path.
    host: options.path ? options.path.slice(0, options.path.lastIndexOf('/')) : options.host[0],
    port: options.port[0],
    user: options.user,
    password: options.pass ?? undefined,
    database: options.database,
    ssl: tlsOf(options.ssl),
    max: CONNECTIONS,
    application_name: 'hearth jobs',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    query_timeout: 30_000,
  })
  // Without listeners a connection that the server closes would end the process. The pool has dropped it by then.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

function ignore(): void {}

/** postgres.js: `require`, `allow` and `prefer` do not look at the certificate; `verify-full` and objects do. */
function tlsOf(ssl: Address['ssl']): pg.PoolConfig['ssl'] {
  if (ssl === 'require' || ssl === 'allow' || ssl === 'prefer') return { rejectUnauthorized: false }
  return ssl === 'verify-full' ? true : ssl
}
