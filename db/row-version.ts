import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'

/**
 * What changes with every change of a row, for an ETag. Where the row lies belongs to it: two states that one transaction made
 * differ in nothing else. So does its number, since a place is used again.
 */
export const rowVersion = (table: PgTable & { id: PgColumn }): SQL<string> =>
  sql<string>`${table.id}::text || '.' || ${table}.xmin::text || ${table}.ctid::text`
