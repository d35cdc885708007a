import type pg from 'pg'

/** How fast a killed worker is noticed: at the latest after `deadSeconds` plus twice `beatSeconds`. */
export interface Liveness {
  beatSeconds: number
  deadSeconds: number
  /** For handlers to heed their signal when their worker ends by a fault, and then for the worker to end. */
  endSeconds: number
}

export const defaultLiveness: Liveness = { beatSeconds: 5, deadSeconds: 20, endSeconds: 5 }

export async function registerWorker(pool: pg.Pool, id: string): Promise<void> {
  await pool.query('insert into job_workers (id) values ($1) on conflict (id) do update set seen_at = now()', [id])
}

/** False when another replica declared this worker dead: its jobs are no longer its own. */
export async function beat(pool: pg.Pool, id: string): Promise<boolean> {
  const { rowCount } = await pool.query('update job_workers set seen_at = now() where id = $1', [id])
  return rowCount === 1
}

/**
 * Frees jobs and queues whose worker shows no sign of life, and returns how many jobs. The attempt counts, so that a
 * job which kills its process does not do so for ever.
 */
export async function freeDeadWorkers(pool: pg.Pool, deadSeconds: number): Promise<number> {
  // The library has force_unlock_workers(), but in 0.18.0 it still writes to what has become a view over joins.
  const { rows } = await pool.query<{ freed: number }>(
    `with limits as (select now() - make_interval(secs => $1) as oldest),
     alive as (select id from job_workers, limits where seen_at >= oldest),
     buried as (delete from job_workers using limits where seen_at < oldest),
     freed as (
       update graphile_worker._private_jobs
       set locked_at = null, locked_by = null, last_error = 'the process that ran this job died'
       where id in (
         select id from graphile_worker._private_jobs, limits
         where locked_at < oldest and locked_by not in (select id from alive)
         for update of _private_jobs skip locked)
       returning 1),
     queues as (
       update graphile_worker._private_job_queues
       set locked_at = null, locked_by = null
       where id in (
         select id from graphile_worker._private_job_queues, limits
         where locked_at < oldest and locked_by not in (select id from alive)
         for update of _private_job_queues skip locked)
       returning 1),
     counted as (select (select count(*) from freed)::int as freed, (select count(*) from queues)::int as queues)
     select freed, pg_notify('jobs:insert', json_build_object('count', freed)::text)
     from counted where freed + queues > 0`,
    [deadSeconds],
  )
  return rows[0]?.freed ?? 0
}

/**
 * Frees jobs that this living worker holds without running them: the answer to its claim was lost with a connection.
 * Returns how many. The attempt does not count, since it never began.
 */
export async function freeLostClaims(pool: pg.Pool, claims: { worker: string; running: string[]; seconds: number }) {
  const { rows } = await pool.query<{ freed: number }>(
    `with limits as (select now() - make_interval(secs => $3) as oldest),
     freed as (
       update graphile_worker._private_jobs
       set locked_at = null, locked_by = null, attempts = greatest(attempts - 1, 0)
       from limits
       where locked_by = $1 and locked_at < oldest and id <> all($2::bigint[])
       returning job_queue_id),
     queues as (
       update graphile_worker._private_job_queues
       set locked_at = null, locked_by = null
       where locked_by = $1 and id in (select job_queue_id from freed)),
     counted as (select count(*)::int as freed from freed)
     select freed, pg_notify('jobs:insert', json_build_object('count', freed)::text) from counted where freed > 0`,
    [claims.worker, claims.running, claims.seconds],
  )
  return rows[0]?.freed ?? 0
}

/** Gives all jobs of a worker that ends, and those in `ended`, back to the others; the attempt does not count. */
export async function handBack(pool: pg.Pool, worker: string, ended: readonly string[]): Promise<void> {
  await pool.query(
    `with gone as (delete from job_workers where id = $1),
     freed as (
       update graphile_worker._private_jobs
       -- Since the job was due, the time it was made is due too, and keeps its place in its queue.
       set locked_at = null, locked_by = null, last_error = null, attempts = greatest(attempts - 1, 0), run_at = created_at
       where locked_by = $1 or (id = any($2::bigint[]) and locked_at is null)
       returning 1),
     queues as (
       update graphile_worker._private_job_queues set locked_at = null, locked_by = null where locked_by = $1)
     select pg_notify('jobs:insert', json_build_object('count', (select count(*) from freed))::text)`,
    [worker, ended],
  )
}
