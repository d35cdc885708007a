import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { Sql } from './client.ts'

const dialect = new PgDialect({ casing: 'snake_case' })

interface Written {
  text: string
  params: string[]
}

/** Composing a long statement takes longer than sending it; this many are remembered, oldest out first. */
const MAX_WRITTEN = 1000
const written = new Map<string, Written>()

/**
 * Runs a composed statement that the database keeps with its plan, by its text. For statements of which there are few texts and
 * whose best plan does not depend on the parameters: whatever does (a limit, a choice of columns) stands in the text. Rows
 * come as the driver reads them; parameters are numbers and texts.
 * @param key names everything that text and parameters are made of
 */
export async function runKept<Row extends object>(sql: Sql, key: string, compose: () => SQL): Promise<Row[]> {
  const { text, params } = written.get(key) ?? write(key, compose())
  return sql.unsafe<Row[]>(text, params, { prepare: true })
}

function write(key: string, statement: SQL): Written {
  const { sql: text, params } = dialect.sqlToQuery(statement)
  const made = { text, params: params.map(String) }
  written.set(key, made)
  if (written.size > MAX_WRITTEN) {
    const [oldest] = written.keys()
    if (oldest !== undefined) written.delete(oldest)
  }
  return made
}
