import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { type JobName, type JobPayload, jobCatalogue } from './catalogue.ts'
import type { EnqueueOptions } from './jobs.ts'

/** Writes a job with `db`: inside a transaction it exists exactly when the transaction commits. Needs no `Jobs`. */
export async function enqueueJob<Name extends JobName>(
  db: Db,
  name: Name,
  payload: JobPayload<Name>,
  { queue, key, runAt, maxAttempts, priority }: EnqueueOptions = {},
): Promise<void> {
  await db.execute(sql`
    select 1 from graphile_worker.add_job(
      identifier => ${name}::text,
      payload => ${JSON.stringify(payload)}::text::json,
      queue_name => ${queue ?? null}::text,
      -- Not the time of the transaction, which is the library's default: jobs of one transaction have an order too, and
      -- whoever waited for a lock comes after whoever held it.
      run_at => coalesce(${runAt?.toISOString() ?? null}::text::timestamptz, clock_timestamp()),
      max_attempts => ${maxAttempts ?? jobCatalogue[name].maxAttempts}::int,
      job_key => ${key ?? null}::text,
      priority => ${priority ?? null}::int
    )`)
}

/** Writes many jobs of one kind in their order, in one statement. */
export async function enqueueJobs<Name extends JobName>(
  db: Db,
  name: Name,
  jobs: readonly { payload: JobPayload<Name>; queue?: string }[],
): Promise<void> {
  await db.execute(sql`
    select graphile_worker.add_job(
      identifier => ${name}::text,
      payload => job.spec -> 'payload',
      queue_name => job.spec ->> 'queue',
      run_at => clock_timestamp(),
      max_attempts => ${jobCatalogue[name].maxAttempts}::int
    ) is null
    from json_array_elements(${JSON.stringify(jobs)}::text::json) with ordinality as job (spec, place)
    order by job.place`)
}
