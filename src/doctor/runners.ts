import type { Sql } from '../../db/client.ts'
import type { Finding } from './finding.ts'

const subject = 'Runners'
/** The oldest of the queue. Where so many wait, the others would say the same. */
const MAX_JOBS = 2000
const MAX_GROUPS = 10

/** Jobs that wait for something that does not come by itself. */
export async function checkRunners(sql: Sql): Promise<Finding[]> {
  const faults = [...(await findUnfit(sql)), ...(await findCircles(sql))]
  return faults.length > 0 ? faults : [{ subject, detail: 'there is one that fits for every queued job' }]
}

/** Queued jobs for which no runner is registered, whether at work or offline: a finding for each set of labels. */
async function findUnfit(sql: Sql): Promise<Finding[]> {
  const groups = await sql<{ labels: string[]; jobs: number; repository: string; since: Date }[]>`
    with queued as (
      select id, labels, repository_id, updated_at from actions_jobs where status = 'queued' order by id limit ${MAX_JOBS}
    ), wanted as (
      select labels, q.repository_id, r.owner_id, r.name, count(*)::int as jobs, min(q.updated_at) as since
      from queued q join repositories r on r.id = q.repository_id
      group by labels, q.repository_id, r.owner_id, r.name
    )
    select labels, sum(jobs)::int as jobs, min(since) as since,
      (array_agg(u.name || '/' || w.name order by since))[1] as repository
    from wanted w join users u on u.id = w.owner_id
    where not exists (
      select from actions_runners n
      where not n.is_disabled
        and (n.repository_id = w.repository_id or n.owner_id = w.owner_id or num_nonnulls(n.repository_id, n.owner_id) = 0)
        and w.labels <@ array(select split_part(label, ':', 1) from unnest(n.labels) as label)
        and not (n.is_ephemeral and exists (select from actions_tasks t where t.runner_id = n.id and t.status = 'in_progress'))
    )
    group by labels order by since limit ${MAX_GROUPS + 1}`
  const shown = groups.slice(0, MAX_GROUPS).map(({ labels, jobs, repository, since }) => ({
    subject,
    detail: `${jobs} queued ${jobs === 1 ? 'job' : 'jobs'} for ${nameLabels(labels)}, which no runner in reach takes; the first waits in ${repository} since ${since.toISOString()}`,
    remedy:
      'register a runner with these labels for the repository, its owner or the site, enable one that has them, or correct `runs-on`',
  }))
  if (groups.length <= MAX_GROUPS) return shown
  return [...shown, { subject, detail: 'there are more labels that no runner takes', remedy: 'begin with those above' }]
}

const MAX_NAMED = 5

/** Strangers choose them: nothing in them may steer a terminal. */
function nameLabels(labels: readonly string[]): string {
  const named = labels.slice(0, MAX_NAMED).map((label) => JSON.stringify(label.slice(0, 60).replace(/\p{C}/gu, '?')))
  const more = labels.length > MAX_NAMED ? ` and ${labels.length - MAX_NAMED} more` : ''
  return labels.length === 0 ? 'any runner' : `${named.join(', ')}${more}`
}

const MAX_TURNS = 1000
const MAX_CIRCLES = 10

/**
 * Holders that wait for a turn in a concurrency group, whose holder waits for theirs. A run holds its turn until all of its jobs have ended,
 * and a job that calls a workflow until the jobs below it have; a job by itself holds none while it waits.
 */
async function findCircles(sql: Sql): Promise<Finding[]> {
  const runs = await sql<{ repository: string; id: number }[]>`
    with recursive waiting as (
      select id, repository_id, group_name, run_id, holder from actions_turns where not is_held order by id limit ${MAX_TURNS}
    ), edges as (
      select w.id as here, n.id as next
      from waiting w
      join actions_turns h on h.is_held and h.repository_id = w.repository_id and h.group_name = w.group_name
      join waiting n on n.run_id = h.run_id and (h.holder = '' or starts_with(n.holder, h.holder || '/'))
    ), reach as (
      select here, next from edges
      union
      select r.here, e.next from reach r join edges e on e.here = r.next
    )
    select distinct u.name || '/' || p.name as repository, w.run_id::int as id
    from reach c join waiting w on w.id = c.here join repositories p on p.id = w.repository_id join users u on u.id = p.owner_id
    where c.here = c.next order by id limit ${MAX_CIRCLES}`
  return runs.map(({ repository, id }) => ({
    subject,
    detail: `run ${id} of ${repository} waits for the turn of a run that waits for its own`,
    remedy: 'cancel one of them, and let their `concurrency` groups be asked for in one order',
  }))
}
