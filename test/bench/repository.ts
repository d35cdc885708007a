// `bun run bench repository [--fork MiB] [--history MiB] [--scale FACTOR]`: what reading and forking repositories costs.
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type Content, makeSource } from './git-source.ts'
import { type Load, type Measured, measure } from './load.ts'
import { cpuSeconds } from './processes.ts'
import { openStage, type Stage } from './stage.ts'

const CONNECTIONS = 8
const FORKS = 5

const option = (name: string, fallback: number): number => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? fallback : Number(process.argv[index + 1])
}
const scale = option('scale', 1)

const say = (line: string) => process.stdout.write(`${line}\n`)

const stage = await openStage(async () => undefined)
try {
  const path = await push('history', 'text with a history', option('history', 20))
  const [head = '', old = ''] = await commitIds(path)
  say(
    'CPU in seconds for 1,000 requests'.padEnd(40) +
      ['requests/s', 'p50 ms', 'p99 ms', 'server', 'database', 'together'].map((cell) => cell.padStart(10)).join(''),
  )
  await row('contents: a file of 12 KB', 2000, `${path}/contents/part0/text0`)
  await row('contents: a folder, with last commits', 500, `${path}/contents/part0`)
  await row('tree, recursive, a page', 500, `${path}/git/trees/${head}?recursive=true`)
  await row('commits, page of 50', 50, `${path}/commits?limit=50`)
  await row('compare, ten commits', 50, `${path}/compare/${old}...${head}`)
  await measureForks(await push('large', 'files of random bytes', option('fork', 200)))
} finally {
  await stage.stop()
}

/** Returns the path of the repository in the API. */
async function push(name: string, content: Content, sizeMiB: number): Promise<string> {
  await made('/user/repos', { name }, 201)
  const folder = join(mkdtempSync(join(stage.git.folder, 'bench-')), 'source')
  await makeSource(stage.git, folder, content, sizeMiB)
  const cloneUrl = new URL(`/root/${name}.git`, stage.url)
  cloneUrl.username = 'root'
  cloneUrl.password = stage.token
  await stage.git(['push', '--quiet', cloneUrl.href, 'HEAD:refs/heads/main'], { cwd: folder })
  return `/repos/root/${name}`
}

async function made(path: string, body: object, status: number): Promise<void> {
  const answer = await stage.api(path, { method: 'POST', body: JSON.stringify(body) })
  const text = await answer.text()
  if (answer.status !== status) throw new Error(`${path}: ${answer.status} ${text}`)
}

/** The newest commit, and the one ten before it. */
async function commitIds(path: string): Promise<string[]> {
  const body: { sha: string }[] = await (await stage.api(`${path}/commits?limit=11`)).json()
  return [body.at(0), body.at(-1)].map((commit) => commit?.sha ?? '')
}

async function row(name: string, requests: number, path: string): Promise<void> {
  const send: Load['send'] = () => stage.api(path)
  const load = { name, requests: Math.ceil(requests * scale), connections: CONNECTIONS, send }
  say(line(await measure(load, stage.counted)))
}

function line({ name, requestsPerSecond, medianMs, p99Ms, serverCpu, databaseCpu }: Measured): string {
  const figures = [requestsPerSecond, medianMs, p99Ms, serverCpu, databaseCpu, serverCpu + databaseCpu]
  return name.padEnd(40) + figures.map((figure) => figure.toFixed(2).padStart(10)).join('')
}

/** One after the other, each to an organization of its own: who owns a fork has no second one. */
async function measureForks(path: string): Promise<void> {
  const seconds: number[] = []
  const [diskBefore, cpuBefore] = [await diskMiB(stage), cpuSeconds(stage.counted.server)]
  for (let number = 0; number < FORKS; number++) {
    await made('/orgs', { username: `forks${number}` }, 201)
    const startedAt = performance.now()
    await made(`${path}/forks`, { organization: `forks${number}` }, 202)
    seconds.push((performance.now() - startedAt) / 1000)
  }
  const cpu = (cpuSeconds(stage.counted.server) - cpuBefore) / FORKS
  const grown = ((await diskMiB(stage)) - diskBefore) / FORKS
  const median = seconds.sort((left, right) => left - right)[FORKS >> 1] ?? 0
  say(
    `fork of ${diskBefore.toFixed(0)} MiB of repositories: ${median.toFixed(2)} s, CPU of the server ${cpu.toFixed(2)} s, ` +
      `${grown.toFixed(1)} MiB more on the disk`,
  )
}

/** Of all repositories; what several names share is counted once. */
async function diskMiB({ repositoriesDir }: Stage): Promise<number> {
  const child = Bun.spawn(['du', '-sk', repositoriesDir], { stdout: 'pipe' })
  return Number.parseInt(await new Response(child.stdout).text(), 10) / 1024
}
