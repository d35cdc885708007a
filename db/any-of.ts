import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'

/**
 * Whether a number is among these, in one text for any count of them: PostgreSQL plans it once, and expects few of them. `inArray`
 * makes another statement for each count, which is planned anew.
 */
export const anyOf = (column: SQLWrapper, numbers: readonly number[]): SQL =>
  sql`${column} = any(${`{${numbers.join(',')}}`}::bigint[])`
