// Written by `bun run db:generate`.
import m0000 from './0000_extensions.sql' with { type: 'text' }
import m0001 from './0001_foundation.sql' with { type: 'text' }
import m0002 from './0002_request_windows.sql' with { type: 'text' }

export interface Migration {
  name: string
  sql: string
}

/** In the order in which they run. A released file never changes: databases remember its hash. */
export const migrations: readonly Migration[] = [
  { name: '0000_extensions', sql: m0000 },
  { name: '0001_foundation', sql: m0001 },
  { name: '0002_request_windows', sql: m0002 },
]
