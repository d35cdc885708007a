import type pg from 'pg'
import type { Sql } from './client.ts'

export type Address = Pick<Sql['options'], 'host' | 'port' | 'path' | 'user' | 'pass' | 'database' | 'ssl'>

/** Where postgres.js connects to, for the other driver: what is built on pg speaks to the same server in the same way. */
export function driverAddress(options: Address): pg.ClientConfig {
  return {
    // pg takes the folder of a socket where postgres.js has the whole path.
    host: options.path ? options.path.slice(0, options.path.lastIndexOf('/')) : options.host[0],
    port: options.port[0],
    user: options.user,
    password: options.pass ?? undefined,
    database: options.database,
    ssl: tlsOf(options.ssl),
    keepAlive: true,
  }
}

/** postgres.js: `require`, `allow` and `prefer` do not look at the certificate; `verify-full` and objects do. */
function tlsOf(ssl: Address['ssl']): pg.ClientConfig['ssl'] {
  if (ssl === 'require' || ssl === 'allow' || ssl === 'prefer') return { rejectUnauthorized: false }
  return ssl === 'verify-full' ? true : ssl
}
