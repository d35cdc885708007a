import type postgres from 'postgres'
import { sha256Hex } from '../src/kernel/hashing.ts'
import type { Sql } from './client.ts'
import { connect } from './connect.ts'
import { MIGRATION_LOCK } from './locks.ts'
import { type Migration, migrations } from './migrations/index.ts'

const OLDEST_SERVER = 150_000

/** The database cannot be brought to the state that this program needs. The message says why and what to do. */
export class MigrationError extends Error {}

export interface MigrateOptions {
  /** Tests give their own; the program has its own list. */
  migrations?: readonly Migration[]
}

/**
 * Brings the database to this program's schema and returns the names of the files that were applied. Two processes
 * starting together wait for each other; a file is applied whole or not at all.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  // One connection: the lock belongs to it, and no statement limit applies, since a table may be large.
  const sql = connect(url, {
    max: 1,
    onnotice: () => undefined,
    connection: { application_name: 'hearth migrate', statement_timeout: 0 },
  })
  try {
    await requireServer(sql)
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`
    return await applyPending(sql, options.migrations ?? migrations)
  } finally {
    // Closing the connection also frees the lock.
    await sql.end({ timeout: 5 })
  }
}

async function requireServer(sql: postgres.Sql): Promise<void> {
  const [row] = await sql<{ number: string; name: string }[]>`
    select current_setting('server_version_num') as number, current_setting('server_version') as name`
  if (row !== undefined && Number(row.number) < OLDEST_SERVER)
    throw new MigrationError(`PostgreSQL ${row.name} is too old: Hearth needs 15 or newer`)
}

async function applyPending(sql: postgres.Sql, known: readonly Migration[]): Promise<string[]> {
  await sql`create table if not exists __migrations (
    name text primary key,
    hash text not null,
    applied_at timestamptz not null default now()
  )`
  const pending = await findPending(sql, known)
  for (const migration of pending) await apply(sql, migration)
  return pending.map(({ name }) => name)
}

/**
 * Names of what the next start would apply.
 * @throws MigrationError when this program cannot use the database.
 */
export async function listPending(sql: Sql): Promise<string[]> {
  const [table] = await sql<{ found: boolean }[]>`select to_regclass('__migrations') is not null as found`
  const pending = table?.found === true ? await findPending(sql, migrations) : migrations
  return pending.map(({ name }) => name)
}

async function findPending(sql: postgres.Sql | Sql, known: readonly Migration[]): Promise<readonly Migration[]> {
  const rows = await sql<{ name: string; hash: string }[]>`select name, hash from __migrations`
  const done = new Map(rows.map(({ name, hash }) => [name, hash]))
  requireKnown(done, known)
  return known.filter(({ name }) => !done.has(name))
}

/** Refuses a database that holds what this program does not know, before anything is touched. */
function requireKnown(done: ReadonlyMap<string, string>, known: readonly Migration[]): void {
  const names = new Set(known.map(({ name }) => name))
  const strange = [...done.keys()].filter((name) => !names.has(name)).sort()
  if (strange.length > 0)
    throw new MigrationError(
      `the database is newer than this program: it has ${strange.join(', ')}. Start the newer version, or restore an older backup`,
    )
  for (const { name, sql } of known) {
    const hash = done.get(name)
    if (hash !== undefined && hash !== sha256Hex(sql))
      throw new MigrationError(
        `migration ${name} was applied to this database with other content than this program has`,
      )
  }
}

async function apply(sql: postgres.Sql, migration: Migration): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction.unsafe(migration.sql).simple()
    await transaction`insert into __migrations (name, hash) values (${migration.name}, ${sha256Hex(migration.sql)})`
  })
}
