import { type SQL, sql } from 'drizzle-orm'
import { LISTENER_NAME } from '../../db/channels.ts'
import type { Sql } from '../../db/client.ts'
import { jobs } from '../../db/schema/jobs.ts'
import type { JobName } from './catalogue.ts'

/** Whether such a job runs or waits, as a condition of a larger statement. @param payload a jsonb value that its payload contains */
export const hasJob = (name: JobName, payload: SQL): SQL =>
  sql`exists (select 1 from ${jobs} where jobs.retired_at is null and jobs.name = ${name} and jobs.payload @> ${payload})`

/** Whether a server, here or elsewhere, works on this database: each keeps a connection that listens for jobs. */
export async function isServed(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select 1 from pg_stat_activity where datname = current_database() and starts_with(application_name, ${LISTENER_NAME}) limit 1`
  return rows.length > 0
}

/** How many servers work on this database whose connection has another label: what is sealed there is sealed with another key. */
export async function countOthers(sql: Sql, label: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity where datname = current_database()
      and starts_with(application_name, ${LISTENER_NAME}) and application_name <> ${`${LISTENER_NAME} ${label}`}`
  return row?.count ?? 0
}
