import { is, Placeholder, type SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { Sql } from './client.ts'

const dialect = new PgDialect({ casing: 'snake_case' })

interface Written {
  text: string
  params: (string | Placeholder)[]
}

/** Composing a long statement takes longer than sending it; this many are remembered, oldest out first. */
const MAX_WRITTEN = 1000
const written = new Map<string, Written>()

/**
 * Runs a composed statement that the database keeps with its plan, by its text. For statements of which there are few texts and
 * whose best plan does not depend on the parameters: whatever does (a limit, a choice of columns) stands in the text. Rows
 * come as the driver reads them; parameters are numbers and texts.
 * @param key names everything that text and parameters are made of, but for `values`
 * @param values for placeholders, which are named `0`, `1` and so on
 */
export async function runPrepared<Row extends object>(
  sql: Sql,
  key: string,
  compose: () => SQL,
  values: readonly string[] = [],
): Promise<Row[]> {
  const { text, params } = written.get(key) ?? write(key, compose())
  const given = params.map((param) => (typeof param === 'string' ? param : valueFor(param, values)))
  return sql.unsafe<Row[]>(text, given, { prepare: true })
}

function valueFor({ name }: Placeholder, values: readonly string[]): string {
  const value = values[Number(name)]
  if (value === undefined) throw new Error(`no value for the placeholder ${name}`)
  return value
}

function write(key: string, statement: SQL): Written {
  const { sql: text, params } = dialect.sqlToQuery(statement)
  const made = { text, params: params.map((param) => (is(param, Placeholder) ? param : String(param))) }
  written.set(key, made)
  if (written.size > MAX_WRITTEN) {
    const [oldest] = written.keys()
    if (oldest !== undefined) written.delete(oldest)
  }
  return made
}
