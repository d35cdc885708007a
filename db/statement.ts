import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { Sql } from './client.ts'

const dialect = new PgDialect({ casing: 'snake_case' })

/**
 * Runs a composed statement that the database keeps with its plan, by its text. For statements of which there are few texts and
 * whose best plan does not depend on the parameters: whatever does (a limit, a choice of columns) stands in the text. Rows
 * come as the driver reads them; parameters are numbers and texts.
 */
export async function runKept<Row extends object>(sql: Sql, statement: SQL): Promise<Row[]> {
  const { sql: text, params } = dialect.sqlToQuery(statement)
  return sql.unsafe<Row[]>(text, params.map(String), { prepare: true })
}
