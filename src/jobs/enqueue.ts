import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { jobs } from '../../db/schema/jobs.ts'
import { type JobName, type JobPayload, jobCatalogue } from './catalogue.ts'
import { JOBS_CHANNEL } from './channel.ts'
import type { EnqueueOptions } from './jobs.ts'

/** Writes a job with `db`: inside a transaction it exists exactly when the transaction commits. Needs no `Jobs`. */
export async function enqueueJob<Name extends JobName>(
  db: Db,
  name: Name,
  payload: JobPayload<Name>,
  { key, onSameKey = 'replace', ...options }: EnqueueOptions = {},
): Promise<void> {
  await insertJobs(db, {
    name,
    specs: [{ payload, ...options, key }],
    onConflict: key === undefined ? sql`` : onConflict(onSameKey),
  })
}

/**
 * Writes many jobs of one kind in their order, in one statement. Those with a key replace what waits under it; no two have the same, and
 * whoever writes several orders them by their keys, so that two who write the same ones do not wait for each other.
 */
export async function enqueueJobs<Name extends JobName>(
  db: Db,
  name: Name,
  specs: readonly ({ payload: JobPayload<Name> } & Omit<EnqueueOptions, 'onSameKey'>)[],
): Promise<void> {
  await insertJobs(db, { name, specs, onConflict: onConflict('replace') })
}

/** A job that takes the place of another goes to the end of its queue: its number is new. */
const onConflict = (onSameKey: 'replace' | 'ignore') => sql`on conflict (key) where lease is null do update set
    id = default, name = excluded.name, payload = excluded.payload, queue = excluded.queue, priority = excluded.priority,
    run_at = excluded.run_at, max_attempts = excluded.max_attempts, created_at = excluded.created_at,
    attempts = 0, last_error = null, failed_at = null, retired_at = null
    where ${onSameKey}::text = 'replace' or jobs.retired_at is not null`

interface NewJobs {
  name: JobName
  specs: readonly ({ payload: unknown; key?: string | undefined } & Omit<EnqueueOptions, 'key' | 'onSameKey'>)[]
  onConflict: ReturnType<typeof sql>
}

/** One text for any number of jobs. Who works is woken by the commit. */
async function insertJobs(db: Db, { name, specs, onConflict }: NewJobs): Promise<void> {
  await db.execute(sql`
    with added as (
      insert into ${jobs} (name, payload, queue, key, priority, run_at, max_attempts)
      select ${name}::text, payload, queue, key, coalesce(priority, 0), coalesce("runAt", now()),
        coalesce("maxAttempts", ${jobCatalogue[name].maxAttempts}::int)
      from rows from (
        json_to_recordset(${JSON.stringify(specs)}::text::json)
          as (payload jsonb, queue text, key text, priority int, "runAt" timestamptz, "maxAttempts" int)
      ) with ordinality as spec (payload, queue, key, priority, "runAt", "maxAttempts", place)
      order by place
      ${onConflict})
    select pg_notify(${JOBS_CHANNEL}::text, '')`)
}
