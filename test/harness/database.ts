import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import type postgres from 'postgres'
import { connect } from '../../db/connect.ts'
import { migrate } from '../../db/migrate.ts'

/** An empty, migrated database of one test file. */
export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

const TEMPLATE = 'hearth_template'
const TEMPLATE_LOCK = 7_113_331
/** Set by the test command, which keeps one server for all test processes. */
const ADDRESS = 'HEARTH_TEST_POSTGRES'

/** A database of its own, cloned from a template that is migrated once per server. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await testServer()
  await makeTemplate(server)
  return cloneDatabase(server, TEMPLATE)
}

/** A database without a single table, for tests of the migrations. */
export async function createBareDatabase(): Promise<TestDatabase> {
  return cloneDatabase(await testServer(), 'template0')
}

async function cloneDatabase(server: string, template: string): Promise<TestDatabase> {
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  await asAdministrator(server, (sql) => sql`create database ${sql(name)} template ${sql(template)}`)
  return {
    url: databaseUrl(server, name),
    drop: () => (hasRoom() ? endSessions(server, name) : dropDatabase(server, name)),
  }
}

/** About what the databases of a whole run take, several times over. */
const ROOM_BYTES = 20 * 1024 ** 3

/**
 * Where the disk has room, databases stay until their server goes: ext4 passes over each inode that was deleted a moment ago before it gives
 * out one, so the 400 files of the next database cost a second of CPU after those of another were deleted, and 30 ms otherwise.
 */
function hasRoom(): boolean {
  const { bavail, bsize } = statfsSync(tmpdir())
  return bavail * bsize > ROOM_BYTES
}

const endSessions = (server: string, name: string): Promise<void> =>
  asAdministrator(
    server,
    async (sql) => void (await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`),
  )

const dropDatabase = (server: string, name: string): Promise<void> =>
  asAdministrator(server, async (sql) => void (await sql`drop database if exists ${sql(name)} with (force)`))

/** Processes that need the template at the same time wait for the first, which makes it. */
async function makeTemplate(server: string): Promise<void> {
  await asAdministrator(server, async (sql) => {
    await sql`select pg_advisory_lock(${TEMPLATE_LOCK})`
    const found = await sql`select 1 from pg_database where datname = ${TEMPLATE}`
    if (found.length > 0) return
    const draft = `${TEMPLATE}_draft`
    await sql`drop database if exists ${sql(draft)}`
    await sql`create database ${sql(draft)}`
    await migrate(databaseUrl(server, draft))
    // Renamed when whole: a failed migration must not leave half a template to the next test.
    await sql`alter database ${sql(draft)} rename to ${sql(TEMPLATE)}`
  })
}

async function asAdministrator<Result>(server: string, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = connect(databaseUrl(server, 'postgres'), { max: 1, onnotice: () => undefined })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Address of the server for this run: the test command's, else one of this process alone. */
async function testServer(): Promise<string> {
  const known = process.env[ADDRESS]
  if (known !== undefined) return known
  const { url } = await startKeeper()
  process.env[ADDRESS] = url
  return url
}

export interface Keeper {
  url: string
  /** Returns when the server has ended and its files are gone. Without it they go when this process ends. */
  stop(): Promise<void>
}

/** Starts a server that lives at most as long as this process. */
export async function startKeeper({ isDurable = false } = {}): Promise<Keeper> {
  const keeper = Bun.spawn(
    [process.execPath, resolve(import.meta.dir, 'keeper.ts'), ...(isDurable ? ['--durable'] : [])],
    {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  keeper.unref()
  const stop = async () => {
    await keeper.stdin.end()
    await keeper.exited
  }
  for await (const chunk of keeper.stdout) {
    const url = new TextDecoder().decode(chunk).trim()
    if (url !== '') return { url, stop }
  }
  throw new Error('the PostgreSQL of the tests did not start; its messages are above')
}
