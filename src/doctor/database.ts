import { type Db, openDatabase, type Sql } from '../../db/client.ts'
import { listPending } from '../../db/migrate.ts'
import { type Config, ConfigError } from '../config.ts'
import { messageOf } from '../kernel/thrown.ts'
import { systemClock } from '../kernel/time.ts'
import { inspectKey } from '../secret-key/inspect.ts'
import { openStorage } from '../storage.ts'
import type { Finding } from './finding.ts'
import { checkRunners } from './runners.ts'

const SKEW_SECONDS = 5

/** Server, its version, its clock against ours, the state of the tables, whether the secret key is theirs, and jobs that wait in vain. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  await using resources = new AsyncDisposableStack()
  try {
    const url = await openStorage(config, resources)
    const { db, sql } = resources.adopt(openDatabase(url, { poolSize: 2 }), (database) => database.close())
    const tables = await checkTables(sql)
    const found = [await checkServer(sql), await checkClock(sql), tables.finding, await checkKey(db, config)]
    // Older tables may not have what is asked of them.
    return tables.areCurrent ? [...found, ...(await checkRunners(sql))] : found
  } catch (error) {
    if (error instanceof ConfigError)
      return [{ subject: 'Database', detail: error.fault, remedy: error.remedy ?? 'correct that setting' }]
    const remedy =
      config.databaseUrl === undefined
        ? 'see server.log in the folder `postgres` of DATA_DIR, or set DATABASE_URL'
        : 'start PostgreSQL, or correct DATABASE_URL (host, port, user, password, name of the database)'
    return [{ subject: 'Database', detail: messageOf(error) || String(error), remedy }]
  }
}

async function checkServer(sql: Sql): Promise<Finding> {
  const [row] = await sql<{ version: string; number: number; fsync: string; commit: string }[]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`
  const { version = '', number = 0, fsync, commit } = row ?? {}
  const finding = { subject: 'Database', detail: `PostgreSQL ${version}` }
  if (number < 150_000) return { ...finding, remedy: 'use PostgreSQL 15 or newer' }
  if (fsync !== 'on' || commit === 'off')
    return {
      ...finding,
      detail: `${finding.detail} may forget answered writes`,
      remedy: 'set fsync and synchronous_commit to on',
    }
  return finding
}

async function checkClock(sql: Sql): Promise<Finding> {
  const before = systemClock.now().getTime()
  const [row] = await sql<{ now: number }[]>`select extract(epoch from clock_timestamp())::float8 * 1000 as now`
  const skew = Math.abs((row?.now ?? 0) - (before + systemClock.now().getTime()) / 2) / 1000
  const finding = { subject: 'Clock', detail: `${skew.toFixed(1)} s from the database's` }
  return skew < SKEW_SECONDS
    ? finding
    : { ...finding, remedy: 'set both clocks by NTP; tokens and schedules depend on them' }
}

/** Whether stored secrets can be opened here. */
async function checkKey(db: Db, config: Config): Promise<Finding> {
  return { subject: 'Secret key', ...(await inspectKey(db, config)) }
}

async function checkTables(sql: Sql): Promise<{ finding: Finding; areCurrent: boolean }> {
  const subject = 'Tables'
  try {
    const pending = await listPending(sql)
    const detail = pending.length === 0 ? 'up to date' : `the next start will apply ${pending.join(', ')}`
    return { finding: { subject, detail }, areCurrent: pending.length === 0 }
  } catch (error) {
    const remedy = 'use the version of Hearth that the database was last used with'
    return { finding: { subject, detail: messageOf(error), remedy }, areCurrent: false }
  }
}
