// bun test/scripts/measure-search.ts [REPOSITORIES]: CPU of the server and of PostgreSQL for pages of the repository search.
import { startTestService, type TestUser } from '../harness/service.ts'
import { createMeter } from './meter.ts'

const repositories = Number(process.argv[2] ?? 100_000)
const ROUNDS = 200

const service = await startTestService({ settings: { CHECK_RESPONSES: 'false' }, checksContract: false })
try {
  await seed()
  const reader = await service.createUser('reader')
  await give(reader)
  const { sql } = service.context
  await sql`vacuum analyze`
  const meter = await createMeter(sql, service.url)
  for (const [who, token] of Object.entries({ visitor: '', reader: reader.token, admin: service.admin.token })) {
    const last = Math.ceil((await totalFor(token)) / 50)
    for (const [name, query] of Object.entries(cases(last)))
      console.log(
        `${name}, ${who}`.padEnd(34),
        await meter.measure(`/api/v1/repos/search?limit=50${query}`, { token, rounds: roundsFor(name) }),
      )
  }
} finally {
  await service.stop()
}

function cases(last: number): Record<string, string> {
  return {
    'first page': '',
    'last page': `&page=${last}`,
    'middle page': `&page=${Math.floor(last / 2)}`,
    'not archived, sources': '&archived=false&mode=source',
    'by update, newest': '&sort=updated&order=desc',
    'by owner and name': '&sort=alpha',
    'name part, few hits': '&q=repository-777',
    'name part, all hit': '&q=repository',
    'of one owner': '&uid=100&exclusive=true',
  }
}

function roundsFor(name: string): number {
  return name.startsWith('middle') || name.startsWith('name part, all') ? 30 : ROUNDS
}

async function totalFor(token: string): Promise<number> {
  const client = service.client(token === '' ? undefined : { token })
  return Number((await client.get('/repos/search')).headers.get('x-total-count'))
}

async function seed(): Promise<void> {
  const { sql } = service.context
  await sql`
    insert into users (name, email, kind, visibility)
    select 'owner-' || n, 'owner-' || n || '@example.com', case when n % 10 = 0 then 'organization' else 'user' end,
      case when n % 100 = 0 then 'private' when n % 50 = 0 then 'limited' else 'public' end
    from generate_series(1, ${Math.ceil(repositories / 20)}::int) n`
  await sql`
    insert into repositories (owner_id, name, description, is_private, is_archived, is_fork, updated_at)
    select (select min(id) from users where name like 'owner-%') + n % ${Math.ceil(repositories / 20)}::int,
      'repository-' || (n * 7919 % ${repositories}::int), 'about ' || n, n % 10 = 3, n % 20 = 5, n % 8 = 1,
      now() - n * interval '1 minute'
    from generate_series(1, ${repositories}::int) n`
}

/** A few collaborations and an organization, as people have them. */
async function give(reader: TestUser): Promise<void> {
  const { sql } = service.context
  const id = sql`(select id from users where name = ${reader.name})`
  await sql`insert into collaborations (repository_id, user_id)
    select r.id, ${id} from repositories r where is_private order by r.id limit 20`
  await sql`insert into organization_members (organization_id, user_id)
    select u.id, ${id} from users u where kind = 'organization' and visibility = 'private' order by u.id limit 2`
}
