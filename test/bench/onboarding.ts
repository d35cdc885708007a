// `bun test/bench/onboarding.ts [--users N] [--repositories N]`: an administrator brings a company onto the service through the API,
// and then every list is read from its first page to its deepest.
import { openStage, type Stage } from './stage.ts'

const option = (name: string, fallback: number): number => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? fallback : Number(process.argv[index + 1])
}

const users = option('users', 1000)
const repositories = option('repositories', 5000)
const organizations = Math.max(1, Math.round(users / 20))
const teamsEach = 10
const CONNECTIONS = 8
/** Runs of each page; the middle one counts. */
const RUNS = 9

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Makes `count` things and says how far it is after each tenth. */
async function make(what: string, count: number, one: (index: number) => Promise<Response>): Promise<void> {
  const startedAt = performance.now()
  const tenth = Math.max(1, Math.floor(count / 10))
  let next = 0
  let done = 0
  const worker = async () => {
    while (next < count) {
      const response = await one(next++)
      const body = await response.text()
      if (response.status >= 300) throw new Error(`${what}: ${response.status} ${body.slice(0, 300)}`)
      done += 1
      if (done % tenth === 0) say(`  ${what}: ${done} of ${count}, ${perSecond(done, startedAt)} a second`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
}

const perSecond = (count: number, startedAt: number) => (count / ((performance.now() - startedAt) / 1000)).toFixed(1)

async function onboard({ api }: Stage): Promise<void> {
  const post = (path: string, body: unknown) => api(path, { method: 'POST', body: JSON.stringify(body) })
  const org = (index: number) => `company${index % organizations}`
  await make('users', users, (index) =>
    post('/admin/users', {
      username: `person${index}`,
      email: `person${index}@localhost.localdomain`,
      password: 'correct horse battery',
      must_change_password: false,
    }),
  )
  await make('organizations', organizations, (index) =>
    post(`/admin/users/person${index % users}/orgs`, { username: `company${index}` }),
  )
  const teamIds: number[] = []
  await make('teams', organizations * teamsEach, async (index) => {
    const json = { name: `team${Math.floor(index / organizations)}`, permission: 'write', units: ['repo.code'] }
    const response = await post(`/orgs/${org(index)}/teams`, json)
    const made: unknown = await response.clone().json()
    if (typeof made === 'object' && made !== null && 'id' in made) teamIds[index] = Number(made.id)
    return response
  })
  await make('members', users, (index) =>
    api(`/teams/${teamIds[index % teamIds.length]}/members/person${index}`, { method: 'PUT' }),
  )
  await make('repositories', repositories, (index) => post(`/orgs/${org(index)}/repos`, { name: `project${index}` }))
  await make('repositories of teams', repositories, (index) =>
    api(`/teams/${teamIds[index % teamIds.length]}/repos/${org(index)}/project${index}`, { method: 'PUT' }),
  )
}

async function medianMs({ api }: Stage, path: string): Promise<{ ms: number; total: number }> {
  const times: number[] = []
  let total = 0
  for (let run = 0; run < RUNS; run += 1) {
    const startedAt = performance.now()
    const response = await api(path)
    const body = await response.text()
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body.slice(0, 300)}`)
    times.push(performance.now() - startedAt)
    total = Number(response.headers.get('x-total-count'))
  }
  times.sort((left, right) => left - right)
  return { ms: times[Math.floor(RUNS / 2)] ?? 0, total }
}

async function readLists(stage: Stage): Promise<void> {
  say('list'.padEnd(36) + ['items', 'first ms', 'last ms', 'ratio'].map((cell) => cell.padStart(10)).join(''))
  for (const path of [
    '/admin/users',
    '/admin/emails',
    '/admin/orgs',
    '/orgs',
    '/repos/search',
    '/orgs/company0/repos',
    '/orgs/company0/teams',
    '/orgs/company0/members',
    '/orgs/company0/activities/feeds',
    '/users/search',
  ]) {
    const first = await medianMs(stage, `${path}?limit=20`)
    const last = await medianMs(stage, `${path}?limit=20&page=${Math.max(1, Math.ceil(first.total / 20))}`)
    const cells = [String(first.total), first.ms.toFixed(1), last.ms.toFixed(1), (last.ms / first.ms).toFixed(2)]
    say(path.padEnd(36) + cells.map((cell) => cell.padStart(10)).join(''))
  }
}

const stage = await openStage(async () => undefined)
try {
  const startedAt = performance.now()
  await onboard(stage)
  say(`onboarding took ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  await readLists(stage)
} finally {
  await stage.stop()
}
