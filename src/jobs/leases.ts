import { sql } from 'drizzle-orm'
import type { Db, Sql } from '../../db/client.ts'
import { jobs } from '../../db/schema/jobs.ts'
import { violatedConstraint } from '../../db/violations.ts'
import { JOBS_CHANNEL } from './channel.ts'

/** One attempt at one job. Each statement here names both, so that an attempt which was taken away changes nothing. */
export interface Lease {
  id: number
  lease: string
}

export interface ClaimedJob extends Lease {
  name: string
  payload: unknown
  queue: string | null
  attempt: number
  maxAttempts: number
}

export interface Claim {
  /** At most so many. */
  count: number
  leaseSeconds: number
  /** Jobs of other names wait for a replica that knows them. */
  names: readonly string[]
  /** Where the last claim stopped looking at queues; empty for the beginning. */
  after: string
}

/** Queues that one claim looks at. Among them priority and age decide; with more of them, claims take turns. */
const MAX_QUEUES = 200

/** The attempt's lease has ended: another one may have begun. */
export class LeaseLost extends Error {}

/**
 * Takes jobs that are due: those without a queue in their order, and of each queue in which nothing runs the first one. Queues are
 * found by one step in the index for each, so that a long queue costs as little as a short one.
 * @returns the jobs, and where the next claim goes on
 */
export function claimJobs(db: Sql, claim: Claim): Promise<{ claimed: ClaimedJob[]; after: string }> {
  // Two workers may see a queue in two states. The index lets one of them have it.
  return againOn('jobs_running_queue_idx', () => tryClaim(db, claim))
}

async function tryClaim(db: Sql, claim: Claim): Promise<{ claimed: ClaimedJob[]; after: string }> {
  const { count, leaseSeconds, names, after } = claim
  const rows = await db<(ClaimedJob & { after: string })[]>`
    with recursive queues (queue) as (
      select min(queue) from jobs where lease is null and retired_at is null and queue is not null and queue > ${after}
      union all
      select (
        select min(jobs.queue) from jobs
        where lease is null and retired_at is null and jobs.queue is not null and jobs.queue > queues.queue)
      from queues where queues.queue is not null
    ), firsts as (
      select queues.queue, first.id, first.priority, first.name
      from queues cross join lateral (
        select id, priority, name from jobs
        where jobs.queue = queues.queue and jobs.queue is not null and lease is null and retired_at is null and run_at <= now()
        order by priority, id limit 1
      ) first
      where queues.queue is not null
        and not exists (select 1 from jobs running where running.queue = queues.queue and running.lease is not null)
      limit ${MAX_QUEUES}
    ), free as (
      select id, priority from jobs
      where queue is null and lease is null and retired_at is null and run_at <= now()
        and name in (select jsonb_array_elements_text(${JSON.stringify(names)}::text::jsonb))
      order by priority, id limit ${count} for update skip locked
    ), first as (
      select jobs.id, jobs.priority from jobs
      where id in (
        select id from firsts where name in (select jsonb_array_elements_text(${JSON.stringify(names)}::text::jsonb))
        order by priority, id limit ${count})
      and lease is null for update skip locked
    ), chosen as (
      select id from (select * from free union all select * from first) found order by priority, id limit ${count}
    ), claimed as (
      update jobs
      set lease = gen_random_uuid(), leased_until = now() + make_interval(secs => ${leaseSeconds}), attempts = attempts + 1
      from chosen where jobs.id = chosen.id
      returning jobs.*
    )
    select id, lease, name, payload, queue, attempts as attempt, max_attempts as "maxAttempts",
      case when (select count(*) from firsts) = ${MAX_QUEUES} then (select max(queue) from firsts) else '' end as after
    from claimed order by priority, id`
  return { claimed: [...rows], after: rows[0]?.after ?? '' }
}

/** Keeps leases for longer. Returns the ids of those that were lost. */
export async function renewLeases(db: Sql, leases: readonly Lease[], leaseSeconds: number): Promise<Set<number>> {
  const rows = await db<{ id: number }[]>`
    with given as (select * from json_to_recordset(${textOf(leases)}::text::json) as given (id bigint, lease uuid)),
    renewed as (
      update jobs set leased_until = now() + make_interval(secs => ${leaseSeconds})
      from given where jobs.id = given.id and jobs.lease = given.lease)
    select id from given
    where not exists (select 1 from jobs where jobs.id = given.id and jobs.lease = given.lease)`
  return new Set(rows.map(({ id }) => id))
}

/** Deletes jobs that are done. Returns the ids of those whose lease was still held. */
export async function removeDone(db: Sql, leases: readonly Lease[]): Promise<Set<number>> {
  const rows = await db<{ id: number }[]>`
    delete from jobs using json_to_recordset(${textOf(leases)}::text::json) as done (id bigint, lease uuid)
    where jobs.id = done.id and jobs.lease = done.lease
    returning jobs.id`
  return new Set(rows.map(({ id }) => id))
}

/**
 * How an attempt ended that did not do the job:
 * - failed: the handler threw; the next attempt waits e, e^2, ... e^10 seconds, give or take a fifth.
 * - ended: its lease ran out; the next attempt may begin at once.
 * - returned: it was handed back, and does not count.
 */
export type Release = { as: 'failed' | 'ended'; error: string } | { as: 'returned' }

/**
 * Ends an attempt that did not do the job: it waits for the next one, or is retired after the last. If a job with the same key
 * waits by then, that one does the work, and this one goes. False when the attempt was over already.
 */
export function releaseJob(db: Sql, held: Lease, release: Release): Promise<boolean> {
  // A job with the key may have been committed just now.
  return againOn('jobs_key_idx', () => tryRelease(db, held, release))
}

async function tryRelease(db: Sql, { id, lease }: Lease, release: Release): Promise<boolean> {
  const error = release.as === 'returned' ? null : release.error
  const rows = await db`
    with held as (
      select id, key from jobs
      where id = ${id} and lease = ${lease} and (${release.as}::text <> 'ended' or leased_until < now())
      for update),
    replaced as (
      delete from jobs using held
      where jobs.id = held.id and exists (select 1 from jobs other where other.key = held.key and other.lease is null)
      returning jobs.id),
    released as (
      update jobs
      set lease = null, leased_until = null,
        attempts = case when ${release.as}::text = 'returned' then attempts - 1 else attempts end,
        last_error = coalesce(${error}::text, last_error),
        failed_at = case when ${error}::text is null then failed_at else now() end,
        retired_at = case when ${error}::text is not null and attempts >= max_attempts then now() end,
        run_at = case
          when ${release.as}::text = 'failed'
          then now() + make_interval(secs => exp(least(10, attempts)) * (0.8 + 0.4 * random()))
          else run_at end
      from held where jobs.id = held.id and not exists (select 1 from replaced))
    select pg_notify(${JOBS_CHANNEL}::text, '') from held`
  return rows.length > 0
}

/** Attempts whose lease has ended: their process died, or lost its way to the database. Without those that `holdLease` protects. */
export async function listEnded(db: Sql, limit: number): Promise<Lease[]> {
  const rows = await db<Lease[]>`
    select id, lease from jobs where lease is not null and leased_until < now() order by leased_until limit ${limit}
    for update skip locked`
  return [...rows]
}

/** See `JobRun.holdLease`. The lock lets the lease be renewed, and keeps others from ending it until the transaction ends. */
export async function holdLease(tx: Db, { id, lease }: Lease): Promise<void> {
  const rows = await tx.execute(sql`
    select 1 from ${jobs} where id = ${id} and lease = ${lease}::text::uuid for key share`)
  if (rows.length === 0) throw new LeaseLost('the lease of this attempt has ended')
}

const textOf = (leases: readonly Lease[]): string => JSON.stringify(leases.map(({ id, lease }) => ({ id, lease })))

const MAX_TRIES = 3

/** Looks again when another transaction broke the index first: what it has committed is seen then. */
async function againOn<Result>(index: string, statement: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await statement()
    } catch (error) {
      if (violatedConstraint(error) !== index || tries === MAX_TRIES) throw error
    }
  }
}
