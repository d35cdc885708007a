import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { takeDuePulls, takeDuePushes } from '../../src/features/mirrors/store.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

/** Enough for the planner to prefer an index; with 100,000 the plans are the same. */
const ROWS = Number(process.env.PLAN_ROWS ?? 20_000)
/** More than this is not sorted or read whole for one page. */
const FEW = 2000

let service: TestService
let big: TestRepository
beforeAll(async () => {
  service = await startTestService()
  big = await service.createRepository(service.admin, { name: 'big' })
  await fill()
}, 300_000)
afterAll(() => service.stop())

/** One repository with many branches, tags, releases, statuses and forks, each of these with a key, rules and a mirror of its own. */
async function fill(): Promise<void> {
  const { sql } = service.context
  const { id } = big
  await sql`insert into refs (repository_id, kind, name, sha, commit, committed_at)
    select repository_id, more.kind, 'many' || n, sha, commit, now() - n * interval '1 minute'
    from refs, generate_series(1, ${ROWS}::int) as n, (values ('branch'), ('tag')) as more (kind) where repository_id = ${id}`
  await sql`insert into releases (repository_id, tag_name, target, title, author_id, is_draft, created_at, published_at)
    select ${id}::bigint, 'many' || n, 'main', '', (select owner_id from repositories where id = ${id}), false, now() - n * interval '1 minute', now()
      - n * interval '1 minute' from generate_series(1, ${ROWS}::int) as n`
  await sql`insert into commit_statuses (repository_id, sha, state, context, creator_id)
    select repository_id, case when n < 1000 then sha else md5((n % 20)::text) || 'aaaaaaaa' end, 'success', 'program ' || n % 500, (select owner_id
      from repositories where id = ${id}) from refs, generate_series(1, ${ROWS}::int) as n
    where repository_id = ${id} and name = 'main'`
  await sql`insert into users (name, email) select 'owner' || n, 'owner' || n || '@example.com' from generate_series(1, ${ROWS}::int) as n`
  await sql`analyze users`
  // The triggers that count are made for few at a time.
  for (let from = 0; from < ROWS; from += 500)
    await sql`insert into repositories (owner_id, name, is_fork, parent_id)
      select id, 'fork', true, ${id}::bigint from users where name = any
        (select 'owner' || n from generate_series(${from + 1}::int, ${from + 500}::int) as n)`
  await sql`insert into public_keys (key, key_type, fingerprint, title)
    select 'ssh-ed25519 ' || id, 'ssh-ed25519', 'SHA256:' || id, '' from repositories`
  await sql`insert into deploy_keys (repository_id, key_id, title, is_read_only)
    select r.id, k.id, 'key', true from repositories r join public_keys k on k.fingerprint = 'SHA256:' || r.id`
  await sql`insert into branch_protections (repository_id, rule_name, priority) select id, 'main', 1 from repositories`
  await sql`insert into tag_protections (repository_id, name_pattern) select id, 'v*' from repositories`
  await sql`insert into push_mirrors (repository_id, remote_name, url, interval_seconds, syncs_on_commit, next_at)
    select id, 'there', 'https://example.com', 0, true, now() + interval '1 day' from repositories`
  await sql`insert into pull_mirrors (repository_id, url, next_at)
    select id, 'https://example.com', now() + (id % 1440 - 3) * interval '1 minute' from repositories`
  await sql`update repositories set topics = array['common', 'topic' || id]`
  await sql`insert into topics (name) select distinct topic from repositories, unnest(topics) as topic`
  await sql`insert into collaborations (repository_id, user_id) select r.id, u.id from repositories r join users u on u.id = r.owner_id`
  await sql`insert into collaborations (repository_id, user_id) select ${id}::bigint, id from users where name like 'owner%' and id % 1000 = 0`
  await sql`insert into issues (repository_id, number, title) values (${id}::bigint, 1, 'loved')`
  await sql`insert into reactions (issue_id, user_id, content) select i.id, u.id, 'heart' from issues i, users u`
  await sql`insert into issues (repository_id, number, title) select ${id}::bigint, n, 'linked' from generate_series(2, ${ROWS}::int) as n`
  await sql`update issues set pin_order = number where number <= 3`
  await sql`insert into issue_dependencies (issue_id, dependency_id)
    select a.id, b.id from issues a join issues b on b.number between a.number + 1 and a.number + 3`
  await fillRuns()
  await fillTimes()
  await sql`analyze`
}

/** Runs of workflows, most of them in the one repository: three jobs each, of which a runner has had two. */
async function fillRuns(): Promise<void> {
  const { sql } = service.context
  await sql`insert into actions_runs (repository_id, number, workflow_file, workflow_name, workflow_path, files, title, event, github, vars,
      inputs, actor_id, trigger_actor_id, ref, head_sha, status, conclusion, started_at, completed_at)
    select case when n % 100 = 0 then other.id else ${big.id}::bigint end, n, 'ci.yml', 'ci', '.gitea/workflows/ci.yml', '{}', 'run',
      case when n % 1000 = 0 then 'release' else 'push' end, '{}', '{}', '{}', r.owner_id, r.owner_id, 'refs/heads/main', md5((n / 3)::text)
      || 'aaaaaaaa', 'completed', case when n % 2 = 0 then 'success' else 'failure' end, now(), now()
    from generate_series(1, ${ROWS}::int) as n, repositories r, lateral (select max(id) as id from repositories) as other
    where r.id = ${big.id}`
  await sql`insert into actions_jobs (run_id, repository_id, key, name, position, needs, labels, attempt, status, conclusion, started_at, completed_at)
    select id, repository_id, 'job' || n, 'job', n, '{}', '{}', case when n < 3 then 1 else 0 end, status, conclusion, now(), now() from actions_runs, generate_series(1, 3) as n`
  await sql`insert into actions_tasks (job_id, attempt, runner_id, runner_name, status, conclusion, steps, token_hash)
    select id, 1, 1, 'machine', status, conclusion, '[]', 'token' || id from actions_jobs where position < 3`
  await sql`update actions_jobs set task_id = t.id from actions_tasks t where t.job_id = actions_jobs.id`
}

/** Two times on every issue, one of them the administrator's; and many on the second one, by a hundred people. */
async function fillTimes(): Promise<void> {
  const { sql } = service.context
  const { id } = big
  await sql`with told as (insert into comments (issue_id, kind)
      select i.id, 'add_time_manual' from issues i, generate_series(1, 2) returning id, issue_id)
    insert into tracked_times (issue_id, repository_id, comment_id, user_id, seconds, created_at)
    select issue_id, ${id}::bigint, id, case when id % 2 = 0 then (select owner_id from repositories where id = ${id}::bigint) else first + id % ${ROWS}::int end, 60, now() - id * interval '1 minute' from told, (select min(id) as first from users where name like 'owner%') as of_all`
  await sql`with told as (insert into comments (issue_id, kind)
      select (select id from issues where number = 2), 'add_time_manual' from generate_series(1, ${ROWS}::int) returning id, issue_id)
    insert into tracked_times (issue_id, repository_id, comment_id, user_id, seconds, created_at)
    select issue_id, ${id}::bigint, id, first + id % 100, 60, now() - id * interval '1 minute'
    from told, (select min(id) as first from users where name like 'owner%') as of_all`
}

interface Plan {
  'Node Type': string
  'Plan Rows': number
  'Relation Name'?: string
  Plans?: Plan[]
}
const Plan = Type.Recursive((self) =>
  Type.Object({
    'Node Type': Type.String(),
    'Plan Rows': Type.Number(),
    'Relation Name': Type.Optional(Type.String()),
    Plans: Type.Optional(Type.Array(self)),
  }),
)
const Explained = Type.Tuple([Type.Object({ Plan })])

/** The plans of the statements with a limit that are sent meanwhile. Totals count all there is, and are left out. */
async function plansOf(act: () => Promise<unknown>): Promise<{ text: string; plan: Plan }[]> {
  const { sql } = service.context
  const { unsafe } = sql
  const sent: Parameters<typeof unsafe>[] = []
  const recording: typeof unsafe = (...statement) => {
    sent.push(statement)
    return unsafe(...statement)
  }
  sql.unsafe = recording
  await act().finally(() => {
    sql.unsafe = unsafe
  })
  const reading = sent.filter(([text]) => /^\s*(select|with|update)\b.* limit /is.test(text))
  expect(reading).not.toEqual([])
  return Promise.all(
    reading.map(async ([text, parameters]) => {
      const [row] = await unsafe(`explain (format json) ${text}`, parameters)
      return { text, plan: Value.Parse(Explained, row?.['QUERY PLAN'])[0].Plan }
    }),
  )
}

/** What a plan reads or sorts that grows with all there is, and not with the page. */
function costly(plan: Plan): string[] {
  const below = plan.Plans ?? []
  const most = Math.max(plan['Plan Rows'], ...below.map((child) => child['Plan Rows']))
  const isWhole = plan['Node Type'] === 'Sort' || plan['Node Type'] === 'Seq Scan'
  const own = isWhole && most > FEW ? [`${plan['Node Type']} ${plan['Relation Name'] ?? ''} of ${most}`] : []
  return [...own, ...below.flatMap(costly)]
}

test.each([
  'branches',
  'tags',
  'releases',
  'releases?draft=false&pre-release=false',
  'releases/latest',
  'statuses/main',
  'statuses/main?state=success&sort=oldest',
  'commits/main/status',
  'forks',
  'keys',
  'push_mirrors',
  'collaborators',
  'issues/1/reactions',
  'issues/1/dependencies',
  'issues/5/blocks',
  'times',
  'times?user=owner1000',
  'times?since=2020-01-01T00:00:00Z',
  'issues/2/times',
  'issues/2/times?user=owner1',
  'issues/2/timeline',
  'issues/pinned',
  'actions/runs',
  'actions/runs?event=release',
  'actions/runs?status=failure&branch=main',
  'actions/runs?head_sha=c4ca4238a0b923820dcc509a6f75849baaaaaaaa',
  'actions/jobs',
  'actions/jobs?status=queued',
  'actions/runs?status=in_progress',
  'actions/jobs?status=success&order=desc',
  'actions/tasks',
])('a page of %s is found by an index, and not sorted', async (list) => {
  await expectCheap(`${big.path}/${list}`)
})

test.each([
  '/user/actions/runs',
  '/admin/actions/runs?event=release',
  '/user/actions/jobs',
  '/admin/actions/jobs?order=desc',
  '/user/times',
  '/user/stopwatches',
])('a page of %s is found by an index, and not sorted', expectCheap)

async function expectCheap(path: string): Promise<void> {
  expect(await faultsOf(reading(service.admin, path))).toEqual([])
}

test.each(['', '?branch=none', '?event=schedule'])('a badge%s is found by an index', async (query) => {
  const ask = async () => {
    const address = `${service.url}/${big.owner}/${big.name}/actions/workflows/ci.yml/badge.svg${query}`
    expect((await fetch(address)).status).toBe(200)
  }
  expect(await faultsOf(ask)).toEqual([])
})

const reading =
  ({ client }: Pick<TestUser, 'client'>, path: string) =>
  async () =>
    expect([path, (await client.get(path)).status]).toEqual([path, 200])

const faultsOf = async (act: () => Promise<unknown>): Promise<string[]> =>
  (await plansOf(act)).flatMap(({ text, plan }) => costly(plan).map((fault) => `${fault}: ${text}`))

test('a rare topic is found by an index, and so are its repositories', async () => {
  const person = await service.createUser()
  const [last] = await service.context.sql<{ name: string }[]>`select 'topic' || max(id) as name from repositories`
  const faults = await faultsOf(reading(person, `/topics/search?q=${last?.name}`))
  // The planner may read the short rows of all owners at once where it expects some hundred repositories.
  expect(faults.filter((fault) => !fault.startsWith('Seq Scan users '))).toEqual([])
})

test('for topics with a frequent word all repositories are looked at once', async () => {
  const person = await service.createUser()
  const found = await plansOf(reading(person, '/topics/search?q=topic'))
  const counting = found.filter(({ text }) => text.includes('repositories'))
  expect(counting).not.toEqual([])
  for (const { plan } of counting) expect(repeated(plan)).toEqual([])
})

/** What reads many rows anew for each row of another set. */
function repeated(plan: Plan): string[] {
  const below = plan.Plans ?? []
  const [outer, inner] = below
  const isLoop = plan['Node Type'] === 'Nested Loop' && (outer?.['Plan Rows'] ?? 0) > 1
  return [...(isLoop && inner ? costly(inner) : []), ...below.flatMap(repeated)]
}

test.each([
  ['pulled from', takeDuePulls],
  ['pushed to', takeDuePushes],
])('servers that are due to be %s are found by an index', async (_, take) => {
  const now = new Date()
  const due = { now, again: new Date(now.getTime() + 3_600_000), limit: 1000 }
  expect(await faultsOf(() => take(service.context.db, due))).toEqual([])
})
