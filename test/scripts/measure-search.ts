// bun test/scripts/measure-search.ts [REPOSITORIES]: CPU of the server and of PostgreSQL for pages of the repository search.
import { readdirSync, readFileSync } from 'node:fs'
import { startTestService, type TestUser } from '../harness/service.ts'

const repositories = Number(process.argv[2] ?? 100_000)
const ROUNDS = 200

/** Runs in a process of its own, whose time is not the server's. */
const LOAD = `
  const [url, token, rounds] = process.argv.slice(1)
  const headers = token === '' ? undefined : { authorization: 'token ' + token }
  for (let round = 0; round < Number(rounds); round += 1) {
    const answer = await fetch(url, { headers })
    if (!answer.ok) throw new Error(answer.status + ' ' + await answer.text())
    await answer.arrayBuffer()
  }`

const service = await startTestService({ settings: { CHECK_RESPONSES: 'false' }, checksContract: false })
try {
  await seed()
  const reader = await service.createUser('reader')
  await give(reader)
  const { sql } = service.context
  await sql`vacuum analyze`
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const postmaster = parentOf(row?.pid ?? 0)
  for (const [who, token] of Object.entries({ visitor: '', reader: reader.token, admin: service.admin.token })) {
    const last = Math.ceil((await totalFor(token)) / 50)
    for (const [name, query] of Object.entries(cases(last)))
      await measure(`${name}, ${who}`, `/api/v1/repos/search?limit=50${query}`, { token, postmaster })
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

async function totalFor(token: string): Promise<number> {
  const client = service.client(token === '' ? undefined : { token })
  return Number((await client.get('/repos/search')).headers.get('x-total-count'))
}

async function measure(name: string, path: string, { token, postmaster }: { token: string; postmaster: number }) {
  const rounds = name.startsWith('middle') || name.startsWith('name part, all') ? 30 : ROUNDS
  await load(path, token, 20)
  const [server, database] = [process.cpuUsage(), cpuOf(postmaster)]
  await load(path, token, rounds)
  const used = process.cpuUsage(server)
  const inServer = (used.user + used.system) / 1000 / rounds
  const inDatabase = (cpuOf(postmaster) - database) / rounds
  const total = (inServer + inDatabase).toFixed(2)
  console.log(`${name.padEnd(34)} ${total} ms  (server ${inServer.toFixed(2)}, database ${inDatabase.toFixed(2)})`)
}

async function load(path: string, token: string, rounds: number): Promise<void> {
  const command = [process.execPath, '-e', LOAD, `${service.url}${path}`, token, String(rounds)]
  const child = Bun.spawn(command, { stdout: 'inherit', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error('the load failed')
}

/** Milliseconds that the backends of a PostgreSQL have used; the kernel counts in hundredths of a second. */
function cpuOf(postmaster: number): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => Number(stat[1]) === postmaster)
    .reduce((sum, stat) => sum + (Number(stat[11]) + Number(stat[12])) * 10, 0)
}

function parentOf(pid: number): number {
  return Number(statOf(pid)[1])
}

/** The fields after the name of the program: state, parent, ... */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
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
