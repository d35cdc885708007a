// bun test/scripts/measure-walk.ts [ROWS]: CPU of the server and of PostgreSQL for pages of long lists, by number and by cursor.
import { startTestService } from '../harness/service.ts'
import { createMeter } from './meter.ts'

const rows = Number(process.argv[2] ?? 100_000)
const LIMIT = 50
const ROUNDS = 40

const lists = [
  '/repos/search?',
  '/repos/search?sort=alpha&',
  '/repos/search?sort=updated&order=desc&',
  '/repos/search?sort=stars&order=desc&',
  '/repos/search?sort=size&order=asc&',
  '/users/search?',
  '/admin/users?sort=created&order=desc&',
  '/admin/emails?',
  '/orgs?',
  '/repos/root-admin/big/issues?state=all&',
  '/repos/root-admin/big/issues/comments?',
  '/repos/root-admin/big/stargazers?',
  '/repos/root-admin/big/subscribers?',
  '/repos/root-admin/big/activities/feeds?',
  '/user/followers?',
  '/user/starred?',
]

const settings = { CHECK_RESPONSES: 'false', DATABASE_TIMEOUT_SECONDS: '600' }
const service = await startTestService({ settings, checksContract: false })
try {
  await seed()
  const meter = await createMeter(service.context.sql, service.url)
  for (const list of lists.filter((path) => path.includes(process.argv[3] ?? ''))) {
    const { token } = service.admin
    const path = (page: number) => `/api/v1${list}limit=${LIMIT}&page=${page}`
    const last = Math.floor((await linkOf(path(1), token)).total / LIMIT) - 1
    const pages = {
      'page 1': path(1),
      'page 2 by cursor': (await linkOf(path(1), token)).next,
      [`page ${last} by cursor`]: (await linkOf(path(last - 1), token)).next,
      [`page ${last} by number`]: path(last),
      [`page ${last >> 1} by cursor`]: (await linkOf(path((last >> 1) - 1), token)).next,
      [`page ${last >> 1} by number`]: path(last >> 1),
    }
    for (const [name, page] of Object.entries(pages))
      console.log(`${`${list} ${name}`.padEnd(62)} ${await meter.measure(page, { token, rounds: ROUNDS })}`)
  }
} finally {
  await service.stop()
}

async function linkOf(path: string, token: string): Promise<{ total: number; next: string }> {
  const { headers } = await service.client({ token }).get(path)
  const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '?'
  return { total: Number(headers.get('x-total-count')), next: next.replace(/^https?:\/\/[^/]+/, '') }
}

async function seed(): Promise<void> {
  const { sql } = service.context
  await service.createRepository(service.admin, { name: 'big' })
  const big = sql`(select id from repositories where name = 'big')`
  const admin = sql`(select id from users where name = 'root-admin')`
  await sql`
    insert into users (name, email, kind, created_at)
    select 'person-' || md5(n::text), 'p' || n || '@example.com', case when n % 4 = 0 then 'organization' else 'user' end,
      now() - n % 5000 * interval '1 minute'
    from generate_series(1, ${rows}::int) n`
  await sql`insert into emails (user_id, email, is_primary, is_activated) select id, email, true, true from users where kind = 'user' on conflict do nothing`
  await sql`
    insert into repositories (owner_id, name, description, updated_at)
    select (select min(id) from users where name like 'person-%') + n % 5000, 'repository-' || md5(n::text), 'about ' || n,
      now() - n % 5000 * interval '1 minute'
    from generate_series(1, ${rows}::int) n`
  // Triggers have planned their statements for the empty tables of a moment ago.
  await sql`analyze`
  await sql`update repository_counters set stars_count = repository_id % 100, size_bytes = repository_id % 1000`
  await sql`insert into stars (user_id, repository_id, created_at)
    select id, ${big}, now() - id % 5000 * interval '1 minute' from users where name like 'person-%'`
  await sql`insert into watches (user_id, repository_id, created_at)
    select id, ${big}, now() - id % 5000 * interval '1 minute' from users where name like 'person-%' on conflict do nothing`
  await sql`insert into follows (follower_id, followed_id, created_at)
    select id, ${admin}, now() - id % 5000 * interval '1 minute' from users where name like 'person-%'`
  await sql`insert into stars (user_id, repository_id, created_at)
    select ${admin}, id, now() - id % 5000 * interval '1 minute' from repositories on conflict do nothing`
  await sql`insert into issues (repository_id, number, poster_id, title, body)
    select ${big}, n, ${admin}, 'issue ' || n, 'text' from generate_series(1, ${rows}::int) n`
  await sql`insert into comments (issue_id, poster_id, body, created_at)
    select id, ${admin}, 'a comment', now() - id % 5000 * interval '1 minute' from issues`
  await sql`insert into activities (event_id, actor_id, owner_id, repository_id, op_type)
    select 1000000 + n, ${admin}, ${admin}, ${big}, 'star_repo' from generate_series(1, ${rows}::int) n`
  await sql`vacuum analyze`
}
