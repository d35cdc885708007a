import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Client } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

/** Half of them in one repository, the others in five hundred, of which every second one is private. */
const ISSUES = 100_000
const COMMENTS = 50_000
const REPOSITORIES = 500

let service: TestService
let big: TestRepository
let ann: TestUser
beforeAll(async () => {
  service = await startTestService()
  ann = await service.createUser('ann')
  big = await service.createRepository(ann, { name: 'big' })
  await fill()
}, 120_000)
afterAll(() => service.stop())

async function fill(): Promise<void> {
  const { sql } = service.context
  await sql`insert into users (name, email) select 'owner' || n, 'owner' || n || '@example.com' from generate_series(1, ${REPOSITORIES}::int) as n`
  await sql`insert into repositories (owner_id, name, is_private) select id, 'one', id % 2 = 0 from users where name like 'owner%'`
  await sql`insert into labels (repository_id, name, color) select id, word, '00aabb' from repositories, lateral (values ('bug'), ('rare' || id)) as made (word)`
  await sql`insert into milestones (repository_id, title) select id, 'm' || id from repositories`
  // The indexes of texts are built in one go, which takes a third of the time.
  const indexes =
    await sql`select indexname as name, indexdef as definition from pg_indexes where indexdef like '%USING gin%' and tablename in ('issue_texts', 'comments')`
  for (const { name } of indexes) await sql`drop index ${sql(String(name))}`
  await sql`
    insert into issues (repository_id, number, title, body, poster_id, milestone_id, is_closed, is_pull)
    select place.id, case when n % 2 = 0 then n / 2 else n / 2 / ${REPOSITORIES}::int + 1 end, 'Title ' || md5(n::text),
      'Something of ' || md5('b' || n) || ' should be better' || case when n % 1000 = 0 then ', says @ann' else '' end,
      place.owner_id, place.milestone_id, n % 3 = 0, n % 10 = 0
    from generate_series(1, ${ISSUES}::int) as n
    join (select r.id, r.owner_id, m.id as milestone_id,
        case when r.id = ${big.id} then -1 else (row_number() over (order by r.id = ${big.id}, r.id)) - 1 end as place
      from repositories r join milestones m on m.repository_id = r.id) as place
      on place.place = case when n % 2 = 0 then -1 else n / 2 % ${REPOSITORIES}::int end`
  await sql`insert into comments (issue_id, body, poster_id) select id, 'Words of ' || md5('c' || id), poster_id from issues order by id limit ${COMMENTS}`
  await sql`insert into issue_labels (issue_id, label_id) select i.id, l.id from issues i
    join labels l on l.repository_id = i.repository_id and (l.name = 'bug' or i.number = 1)`
  await sql`insert into issue_assignees (issue_id, user_id) select id, poster_id from issues where number % 500 = 1`
  for (const { definition } of indexes) await sql.unsafe(String(definition))
  await sql`vacuum analyze`
}

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  Plans?: Plan[]
}
const Plan = Type.Recursive((self) =>
  Type.Object({
    'Node Type': Type.String(),
    'Relation Name': Type.Optional(Type.String()),
    Plans: Type.Optional(Type.Array(self)),
  }),
)
const Explained = Type.Tuple([Type.Object({ Plan })])

/** The plans of the statements by which a request finds issues and counts them. */
async function plansOf(client: Client, path: string): Promise<{ text: string; plan: Plan }[]> {
  const { sql } = service.context
  const { unsafe } = sql
  const sent: Parameters<typeof unsafe>[] = []
  const recording: typeof unsafe = (...statement) => {
    sent.push(statement)
    return unsafe(...statement)
  }
  sql.unsafe = recording
  const answer = await client.get(path)
  sql.unsafe = unsafe
  expect([path, answer.status]).toEqual([path, 200])
  const total = Number(answer.headers.get('x-total-count'))
  expect([path, total > 0 || path.includes('since=20')]).toEqual([path, true])
  const reading = sent.filter(([text]) => /from "?issues"?/.test(text))
  expect(reading.length).toBeGreaterThan(1)
  return Promise.all(
    reading.map(async ([text, parameters]) => {
      const [row] = await unsafe(`explain (format json) ${text}`, parameters)
      return { text, plan: Value.Parse(Explained, row?.['QUERY PLAN'])[0].Plan }
    }),
  )
}

const LARGE = ['issues', 'issue_texts', 'comments', 'issue_labels']

const wholeTables = (plan: Plan): string[] => [
  ...(plan['Node Type'] === 'Seq Scan' && LARGE.includes(plan['Relation Name'] ?? '')
    ? [`${plan['Relation Name']}`]
    : []),
  ...(plan.Plans ?? []).flatMap(wholeTables),
]

const word = (text: string) => new Bun.CryptoHasher('md5').update(text).digest('hex')

/** Filters that many issues pass: only their totals count all of these. */
const broad = [
  '',
  '&type=pulls',
  '&state=closed',
  '&state=all',
  '&page=3',
  '&created_by=ann',
  '&milestones=MILESTONE',
  '&labels=bug',
  '&since=2020-01-01T00:00:00Z',
]
const selective = [
  `&q=${word('8').slice(3, 12)}`,
  `&q=${word('b8').slice(0, 9)}`,
  `&q=${word('c8').slice(0, 9)}`,
  `&q=title ${word('8').slice(0, 9)} better`,
  '&q=%2349999',
  '&labels=RARE',
  `&since=${new Date(Date.now() + 3_000_000).toISOString()}&state=all`,
]
/** Of the one who asks. */
const own = ['&mentioned=true', '&assigned=true', '&created=true&state=closed&type=pulls']
const elsewhere = ['&q=%2310', '&owner=owner7', '&owner=owner7&labels=bug']
const ofPeople = ['&mentioned_by=ann', '&assigned_by=ann']

const inOne = (filter: string) => `BIG/issues?limit=50${filter}`
const inAll = (filter: string) => `/repos/issues/search?limit=50${filter}`

const pathOf = async (template: string): Promise<string> => {
  const [milestone] = await service.context.sql`select title from milestones where repository_id = ${big.id}`
  return template
    .replace('BIG', big.path)
    .replace('RARE', `rare${big.id}`)
    .replace('MILESTONE', String(milestone?.title))
}

async function faultsOf(template: string, isCounted: boolean): Promise<string[]> {
  const path = await pathOf(template)
  const isOfAll = template.startsWith('/') && !own.some((filter) => template.endsWith(filter))
  const clients = isOfAll ? [ann.client, service.anonymous, service.admin.client] : [ann.client]
  const faults: string[] = []
  for (const client of clients)
    for (const { text, plan } of await plansOf(client, path))
      if (isCounted || / limit /.test(text)) faults.push(...wholeTables(plan).map((table) => `${table}: ${text}`))
  return faults
}

/** Half of all rows carry this label, so that reading them all is no worse than an index; statistics decide from run to run. */
const isHalfOfAll = (template: string, fault: string) =>
  template === inOne('&labels=bug') && fault.startsWith('issue_labels:')

test.each([...broad.map(inOne), ...broad.map(inAll)])('a page of %s reads no large table whole', async (template) => {
  const faults = await faultsOf(template, false)
  expect(faults.filter((fault) => !isHalfOfAll(template, fault))).toEqual([])
})

test.each([...[...selective, ...ofPeople].map(inOne), ...[...selective, ...own, ...elsewhere].map(inAll)])(
  'a page of %s and its total read no large table whole',
  async (template) => {
    expect(await faultsOf(template, true)).toEqual([])
  },
)
