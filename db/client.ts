import type { PgDatabase } from 'drizzle-orm/pg-core'
import { drizzle, type PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import { connect } from './connect.ts'
import { PreparedTexts } from './prepared-texts.ts'

/** A handle for queries: the pool or a transaction, so that the caller owns the transaction. */
export type Db = PgDatabase<PostgresJsQueryResultHKT, Record<string, never>>

/** The pool for hot statements, written as text: numbers for bigint, Date for timestamps. */
export type Sql = postgres.Sql<{ bigint: number }>

export interface DatabaseOptions {
  poolSize: number
  /** Longest time of one statement; 0 is no limit. */
  timeoutSeconds?: number
  /** Longest pause between two statements of one transaction. */
  pauseSeconds?: number
  /** Shown in pg_stat_activity. */
  applicationName?: string
  /** Time to wait for a connection to be made. */
  connectSeconds?: number
}

export interface Database {
  db: Db
  sql: Sql
  /** Lets running statements end for as long as is given, then cuts them. */
  close(graceSeconds?: number): Promise<void>
}

const JSON_TYPE = 114
const TIMESTAMPTZ = 1184
const JSONB = 3802

/**
 * A process that was stopped, or whose host is gone without a word, would keep what it has locked for hours. Twice what a git command
 * may take inside of a transaction; one that needs longer says so by `allowPause`.
 */
const PAUSE_SECONDS = 60

/** Opens a pool. Connections are made at first use, so an address that does not answer fails there. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { poolSize, timeoutSeconds = 30, pauseSeconds = PAUSE_SECONDS } = options
  const { applicationName = 'hearth', connectSeconds = 10 } = options
  const sql = connect(url, {
    max: poolSize,
    connect_timeout: connectSeconds,
    // Tries again soon, however long the database has been away; of itself the driver would wait up to 20 s.
    backoff: (retries: number) => Math.min(1, 0.05 * 2 ** retries) * (0.5 + Math.random() / 2),
    // Notices ("relation already exists, skipping") would go to standard output.
    onnotice: () => undefined,
    connection: {
      application_name: applicationName,
      statement_timeout: timeoutSeconds * 1000,
      idle_in_transaction_session_timeout: pauseSeconds * 1000,
    },
    // int8 is text by default. Our ids and counts stay far below 2^53, and JSON has no other number.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  })
  prepareStatements(sql)
  const db = drizzle(sql, { casing: 'snake_case' })
  restoreTypes(sql)
  return { db, sql, close: (graceSeconds = 5) => sql.end({ timeout: graceSeconds }) }
}

/**
 * `drizzle(client)` makes the client hand out timestamps as text and refuse Date and objects as parameters. Its own
 * columns accept both forms, so raw statements get theirs back. Text for a JSON parameter is JSON already.
 */
function restoreTypes(sql: Sql): void {
  const { parsers, serializers } = sql.options
  parsers[TIMESTAMPTZ] = (text: string) => new Date(text)
  serializers[TIMESTAMPTZ] = (value: Date | string) => (value instanceof Date ? value.toISOString() : value)
  for (const type of [JSON_TYPE, JSONB]) {
    serializers[type] = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  }
}

type Client = Pick<Sql, 'unsafe'>
type Work<Result> = (client: postgres.TransactionSql<{ bigint: number }>) => Result | Promise<Result>

/** Lets PostgreSQL keep the statements that Drizzle builds, which itself asks for that only where a statement has a name. */
function prepareStatements(sql: Sql): void {
  const texts = new PreparedTexts()
  const prepareIn = (client: Client) => {
    const { unsafe } = client
    client.unsafe = (text, parameters, options) =>
      parameters === undefined || parameters.length === 0
        ? unsafe(text, parameters, options)
        : unsafe(text, parameters, { ...options, prepare: texts.isPrepared(text) })
  }
  prepareIn(sql)
  // A transaction has a client of its own.
  const preparing =
    <Result>(work: Work<Result>): Work<Result> =>
    (client) => {
      prepareIn(client)
      return work(client)
    }
  const { begin } = sql
  sql.begin = <Result>(...given: [Work<Result>] | [string, Work<Result>]) =>
    given.length === 1 ? begin(preparing(given[0])) : begin(given[0], preparing(given[1]))
}

/**
 * A statement that is built once per database handle and then only run: building the text of a hot statement costs more than
 * running it. `build` ends with `.prepare(name)`.
 */
export function prepared<Statement>(build: (db: Db) => Statement): (db: Db) => Statement {
  const statements = new WeakMap<Db, Statement>()
  return (db) => {
    const known = statements.get(db)
    if (known !== undefined) return known
    const made = build(db)
    statements.set(db, made)
    return made
  }
}
