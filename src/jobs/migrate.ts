import { runMigrations } from 'graphile-worker'
import { connect } from '../../db/connect.ts'
import { jobCatalogue } from './catalogue.ts'
import { libraryLogger } from './logger.ts'
import { JobsPool } from './pool.ts'

/**
 * Brings the queue's own schema, `graphile_worker`, up to date. To be called under the lock of the migrations
 * (`alsoMigrate`), so that two processes starting together do not both try.
 */
export async function migrateJobs(url: string): Promise<void> {
  // Never connects: it reads the address, so that both drivers understand it alike.
  const sql = connect(url, { max: 1 })
  const pool = new JobsPool(sql)
  try {
    await runMigrations({ pgPool: pool, schema: 'graphile_worker', logger: libraryLogger() })
    // Known names beforehand: the first job of a new name would else hold up all others of that name until its commit.
    await pool.query(
      `insert into graphile_worker._private_tasks (identifier)
       select name from unnest($1::text[]) name
       where not exists (select 1 from graphile_worker._private_tasks where identifier = name)
       on conflict do nothing`,
      [Object.keys(jobCatalogue)],
    )
  } finally {
    await pool.close()
  }
}
