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

/** The same for two columns of text. */
export const anyPairOf = (
  columns: readonly [PgColumn, PgColumn],
  pairs: readonly (readonly [string, string])[],
): SQL => {
  const firsts = arrayOf(pairs.map(([first]) => first))
  const seconds = arrayOf(pairs.map(([, second]) => second))
  return sql`(${columns[0]}, ${columns[1]}) in (select * from unnest(${firsts}::text[], ${seconds}::text[]))`
}

/** As PostgreSQL writes an array, for one parameter: every value in quotes, so that none is taken for null or for two. */
export const arrayOf = (values: Iterable<number | string>): string =>
  `{${Array.from(values, (value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
