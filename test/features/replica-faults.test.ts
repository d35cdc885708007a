import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Client, createClient } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import type { Replica } from './transport/replica.ts'
import { findFaults, startTwin } from './transport/twins.ts'

/** By hand: `REPLICA_SEED=7 bun test ...`. */
const SEED = Number(process.env.REPLICA_SEED ?? 1)
const WRITERS = 4
const PUSHERS = 2

const settings = { SECRET_KEY: 'the same key in all of the replicas', PUBLIC_URL: 'http://hearth.example' }
let service: TestService
let writer: TestUser
let calm: TestUser
let shared: TestRepository
/** Those that requests are sent to, as a load balancer sees them. */
let alive: Replica[] = []

beforeAll(async () => {
  service = await startTestService({ settings })
  ;[writer, calm] = [await service.createUser(), await service.createUser()]
  shared = await service.createRepository(writer)
})
afterAll(async () => {
  isOver = true
  for (const replica of alive) await replica.kill()
  await service.stop()
})

const start = (name: string) => startTwin(service, name, settings)

let state = SEED
/** A linear congruential generator: the same seed, the same choices. */
function pick(): Replica {
  state = (state * 1_103_515_245 + 12_345) % 2 ** 31
  const replica = alive[Math.floor((state / 2 ** 31) * alive.length)]
  if (!replica) throw new Error('no replica is alive')
  return replica
}

let isOver = false
/** What was answered, and by whom. */
const journal = {
  issues: [] as number[],
  repositories: [] as string[],
  pushes: new Map<string, string>(),
  answeredBy: new Map<string, number>(),
  /** Answers that no client should get. */
  bad: [] as string[],
}
/** Grows when a replica is stopped, and when it goes on. What it has locked keeps others waiting, longer than they may on a slow machine. */
let turns = 0
const hadToWait = (before: number) => turns % 2 === 1 || turns !== before
const answered = () => [...journal.answeredBy.values()].reduce((sum, one) => sum + one, 0)
const note = ({ url }: Replica) => journal.answeredBy.set(url, (journal.answeredBy.get(url) ?? 0) + 1)

const at = ({ url }: Replica, { token }: TestUser = writer): Client => createClient({ url, credential: { token } })

/** One writer: an issue in the repository that all share, and a repository of its own, again and again. */
async function write(name: string): Promise<void> {
  for (let round = 0; !isOver; round++) {
    const replica = pick()
    const before = turns
    try {
      const issue = await at(replica).post(`${shared.path}/issues`, { title: `${name} ${round}` })
      if (issue.status === 201) journal.issues.push(issue.number('number'))
      else if (issue.status !== 503 || !hadToWait(before)) journal.bad.push(`issue: ${issue.status} ${issue.text}`)
      note(replica)
      const repository = `${name}-${round}`
      const made = await at(replica).post('/user/repos', { name: repository, auto_init: round % 2 === 0 })
      if (made.status === 201) journal.repositories.push(repository)
      else if (made.status !== 503 || !hadToWait(before)) journal.bad.push(`repository: ${made.status} ${made.text}`)
      note(replica)
    } catch {
      // The replica was killed: whether it was done is not known.
    }
  }
}

async function push(name: string): Promise<void> {
  const cwd = join(service.git.folder, name)
  await service.git(['clone', '-q', shared.cloneUrl, cwd])
  while (!isOver) {
    const replica = pick()
    const before = turns
    await Bun.write(join(cwd, `${crypto.randomUUID()}.txt`), 'x')
    await service.git(['add', '-A'], { cwd })
    await service.git(['commit', '-qm', 'change'], { cwd })
    const url = shared.cloneUrl.replace(new URL(shared.cloneUrl).host, new URL(replica.url).host)
    const { exitCode, stderr } = await service.git.run(['push', '-q', url, `HEAD:refs/heads/${name}`], { cwd })
    if (/error: 5|HTTP 5/.test(stderr) && !hadToWait(before)) journal.bad.push(stderr)
    if (exitCode !== 0) continue
    journal.pushes.set(name, await service.git(['rev-parse', 'HEAD'], { cwd }))
    note(replica)
  }
}

async function more(count: number, by?: Replica): Promise<void> {
  const done = () => (by ? (journal.answeredBy.get(by.url) ?? 0) : answered())
  const before = done()
  await until(() => done() >= before + count, `${count} more answers`)
}

test(`one of two replicas is killed, the other stopped for a while, and the service goes on (seed ${SEED})`, async () => {
  const [one, two] = await Promise.all([start('one'), start('two')])
  alive = [one, two]
  const work = [
    ...Array.from({ length: WRITERS }, (_, index) => write(`writer-${index}`)),
    ...Array.from({ length: PUSHERS }, (_, index) => push(`pusher-${index}`)),
  ]
  await more(10, one)
  await more(10, two)

  alive = [two]
  await one.kill()
  await more(10, two)
  const again = await start('one')
  alive = [two, again]
  await more(10, again)

  // Stopped in the middle of whatever it was doing, locks included; the balancer notices and asks it nothing new.
  process.kill(two.pid, 'SIGSTOP')
  turns += 1
  alive = [again]
  const quiet = await at(again, calm).post('/user/repos', { name: 'calm', auto_init: true })
  expect(quiet.status).toBe(201)
  for (let number = 1; number <= 20; number++) {
    const issue = await at(again, calm).post(`/repos/${calm.name}/calm/issues`, { title: 'work goes on' })
    expect([issue.status, issue.number('number')]).toEqual([201, number])
  }
  process.kill(two.pid, 'SIGCONT')
  turns += 1
  alive = [two, again]
  await more(10, two)
  await more(10, again)
  isOver = true
  await Promise.all(work)

  expect(journal.bad).toEqual([])
  await until(isQuiet, 'the jobs of the killed one are taken over', 45_000)
  await expectAllKept()
  expect(await findFaults(service)).toEqual([])
  for (const replica of alive) expect(await replica.stop()).toBe(0)
  alive = []
}, 150_000)

/** No event waits for its reactions, and no job for its end. */
async function isQuiet(): Promise<boolean> {
  const [row] = await service.context.sql`
    select (select count(*)::int from events where fanned_out_at is null) as events,
      (select count(*)::int from jobs where retired_at is null and run_at <= now()) as jobs`
  return row?.events === 0 && row.jobs === 0
}

async function expectAllKept(): Promise<void> {
  const { sql, git } = service.context
  const numbers = await sql<{ number: number }[]>`
    select number from issues where repository_id = ${shared.id} order by number`
  expect(numbers.map(({ number }) => number)).toEqual(numbers.map((_, index) => index + 1))
  expect(new Set(journal.issues).size).toBe(journal.issues.length)
  expect(journal.issues.filter((number) => number > numbers.length)).toEqual([])
  const rows = await sql<{ name: string }[]>`select name from repositories`
  const names = new Set(rows.map(({ name }) => name))
  expect(journal.repositories.filter((name) => !names.has(name))).toEqual([])
  for (const [name, sha] of journal.pushes)
    expect(await git.isAncestor(shared.id, sha, `refs/heads/${name}`)).toBe(true)
  expect(journal.pushes.size).toBe(PUSHERS)
  // Each event that is told in the feed is told once.
  const told = await sql`select event_id from activities group by event_id, op_type, ref_name having count(*) > 1`
  expect([...told]).toEqual([])
  const [feed] = await sql`
    select count(*)::int as missing from events
    where kind in ('issue.created', 'repository.created') and actor_id is not null
      and not exists (select 1 from activities where event_id = events.id)`
  expect(feed?.missing).toBe(0)
}
