import { type GetColumnData, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/**
 * Whether a column has one of these values. It is one text for any number of them, which PostgreSQL keeps and plans once; drizzle's
 * `inArray` makes another statement for each count.
 */
export const anyOf = <Column extends PgColumn>(
  column: Column,
  values: Iterable<GetColumnData<Column, 'raw'> & (number | string)>,
): SQL => sql`${column} = any(${arrayOf(values)}::${sql.raw(column.getSQLType())}[])`

/** As PostgreSQL writes an array, for one parameter: every value in quotes, so that none is taken for null or for two. */
export const arrayOf = (values: Iterable<number | string>): string =>
  `{${Array.from(values, (value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
