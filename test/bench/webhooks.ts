// `bun run bench webhooks [--events N] [--fan-out N]`: how soon and how fast receivers are told.
import { loadavg } from 'node:os'
import { cpuSeconds } from './processes.ts'
import { openReceiver } from './receiver.ts'
import { openStage, type Stage } from './stage.ts'

const option = (name: string, fallback: number): number => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? fallback : Number(process.argv[index + 1])
}

const events = option('events', 300)
const fanOut = option('fan-out', 500)
/** Hooks that each event of the storm is told to. */
const HOOKS = 20
const CONNECTIONS = 8
/** Between two events of a quiet server: neither always the same, nor in step with a clock of ours. */
const pauseMs = () => 50 + Math.random() * 150
const SLOW_MS = 10_000
/** What has not come by then is lost. */
const PATIENCE_MS = 120_000

const say = (line: string) => process.stdout.write(`${line}\n`)

const stage = await openStage(async () => undefined)
const receiver = openReceiver()
try {
  say(`load of the machine before: ${load()}`)
  await makeRepository('quiet', [receiver.url])
  say(await describeDelays('a quiet server', 'quiet'))
  const slow = openReceiver({ answerAfterMs: SLOW_MS })
  const dead = openReceiver()
  dead.close()
  await makeRepository('beside', [dead.url, slow.url, receiver.url])
  say(await describeDelays('beside a dead target and one that answers after 10 s', 'beside'))
  slow.close()
  for (let round = 1; round <= 3; round++) await measureStorm(`storm${round}`)
  say(`load of the machine after: ${load()}`)
} finally {
  receiver.close()
  await stage.stop()
}

function load(): string {
  return loadavg()
    .map((value) => value.toFixed(2))
    .join(' ')
}

async function makeRepository(name: string, urls: readonly string[]): Promise<void> {
  await post('/user/repos', { name, auto_init: true })
  for (const url of urls) {
    const config = { url: `${url}/${name}`, content_type: 'json' }
    await post(`/repos/root/${name}/hooks`, { type: 'gitea', active: true, events: ['issues_only'], config })
  }
}

/** One event after the other, each when the one before has arrived. */
async function describeDelays(what: string, repository: string): Promise<string> {
  const delays: number[] = []
  const warmUps = Math.ceil(events / 10)
  for (let index = 0; index < warmUps + events; index++) {
    const title = `${repository} ${index}`
    const arrival = receiver.expect(title)
    await post(`/repos/root/${repository}/issues`, { title })
    const answeredAt = performance.now()
    const arrivedAt = await inTime(arrival, title)
    if (index >= warmUps) delays.push(arrivedAt - answeredAt)
    await Bun.sleep(pauseMs())
  }
  delays.sort((left, right) => left - right)
  const at = (share: number) => `${(delays[Math.floor(delays.length * share)] ?? 0).toFixed(1)} ms`
  return `from the answer to the arrival, ${what}: p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, longest ${at(1 - 1e-9)}`
}

/** Events as fast as they can be made, each told to many hooks. */
async function measureStorm(repository: string): Promise<void> {
  await makeRepository(
    repository,
    Array.from({ length: HOOKS }, () => receiver.url),
  )
  const total = fanOut * HOOKS
  const before = { seen: receiver.count(), at: performance.now(), cpu: cpus(stage) }
  let next = 0
  const worker = async () => {
    while (next < fanOut) await post(`/repos/root/${repository}/issues`, { title: `${repository} ${next++}` })
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  const made = performance.now() - before.at
  const lastAt = await inTime(receiver.reached(before.seen + total), `${total} deliveries`)
  const seconds = (lastAt - before.at) / 1000
  const cpu = cpus(stage)
  const perThousand = (spent: number) => ((spent * 1000) / total).toFixed(2)
  say(
    `${total} deliveries of ${fanOut} events to one host: ${seconds.toFixed(2)} s from the first event (made in ${(made / 1000).toFixed(2)} s), ` +
      `${(total / seconds).toFixed(0)} deliveries/s; CPU for 1,000: server ${perThousand(cpu.server - before.cpu.server)} s, ` +
      `database ${perThousand(cpu.database - before.cpu.database)} s, this bench ${perThousand(cpu.bench - before.cpu.bench)} s`,
  )
}

function cpus({ counted }: Stage): { server: number; database: number; bench: number } {
  const { user, system } = process.cpuUsage()
  return {
    server: cpuSeconds(counted.server),
    database: cpuSeconds(counted.database),
    bench: (user + system) / 1_000_000,
  }
}

async function post(path: string, body: unknown): Promise<void> {
  const answer = await stage.api(path, { method: 'POST', body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`)
}

function inTime<T>(arrival: Promise<T>, what: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<T>()
  const timer = setTimeout(() => reject(new Error(`${what}: not arrived in time`)), PATIENCE_MS)
  return Promise.race([arrival, promise]).finally(() => clearTimeout(timer))
}
