// `bun run bench [--repositories N] [--git MiB] [--scale FACTOR]`: what requests cost, beside the same statements without us.
import { resolve } from 'node:path'
import { sha256Hex } from '../../src/kernel/hashing.ts'
import { fillRepositories, makeReadme } from './data.ts'
import { type CloneMeasured, type GitMeasured, measureGit } from './git.ts'
import { type Load, type Measured, measure } from './load.ts'
import { credentialLoads, fillSigners, measureBesideSignIns } from './sign-in.ts'
import { openStage, type Stage } from './stage.ts'

const CONNECTIONS = 8

const heading =
  'CPU in seconds for 1,000 requests'.padEnd(34) +
  ['requests/s', 'p50 ms', 'p99 ms', 'server', 'database', 'together', 'MiB'].map((cell) => cell.padStart(10)).join('')

const option = (name: string, fallback: number): number => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? fallback : Number(process.argv[index + 1])
}

const repositories = option('repositories', 10_000)
const gitMiB = option('git', 20)
const scale = option('scale', 1)

const readme = makeReadme(10 * 1024)

/** As git asks. */
const VERSION_2 = { headers: { 'git-protocol': 'version=2' } }

/** Of the last answer that had one. */
let etag = ''
const known = (): RequestInit => ({ headers: { 'if-none-match': etag } })

const say = (line: string) => process.stdout.write(`${line}\n`)

const stage = await openStage(async (databaseUrl) => {
  say(`filling the database with ${repositories} repositories`)
  await fillRepositories(databaseUrl, repositories)
  await fillSigners(databaseUrl)
})
try {
  say(`start on the filled database: ${stage.startSeconds.toFixed(2)} s; idle: ${stage.idleMiB.toFixed(0)} MiB`)
  await prepareOwn(stage)
  say(heading)
  for (const load of ours(stage)) say(row(await measure(load, stage.counted)))
  for (const load of credentialLoads(stage))
    say(row(await measure({ ...load, requests: Math.ceil(5000 * scale), connections: CONNECTIONS }, stage.counted)))
  await measureBare(stage)
  const [alone, beside] = await measureBesideSignIns(stage, stage.counted)
  say(`${row(alone)}\n${row(beside)}`)
  if (gitMiB > 0) await measureTransport(stage)
} finally {
  await stage.stop()
}

async function prepareOwn({ api }: Stage): Promise<void> {
  const made = await api('/user/repos', { method: 'POST', body: JSON.stringify({ name: 'bench', auto_init: true }) })
  if (made.status !== 201) throw new Error(`creating a repository: ${made.status} ${await made.text()}`)
}

function ours({ api, url }: Stage): Load[] {
  const load = (name: string, requests: number, send: Load['send']): Load => ({
    name,
    requests: Math.ceil(requests * scale),
    connections: CONNECTIONS,
    send,
  })
  return [
    load('version', 10_000, () => fetch(`${url}/api/v1/version`)),
    load('current user by token', 10_000, () => api('/user')),
    load('get repository', 10_000, () => api('/repos/root/bench')),
    load('get repository, unchanged (304)', 5000, async () => withoutBody(await api('/repos/root/bench', known()))),
    load('search, page of 50', 1000, () => api('/repos/search?limit=50')),
    load('search, last page', 500, () => api(`/repos/search?limit=50&page=${Math.floor(repositories / 50)}`)),
    load('search by word', 500, (index) =>
      api(`/repos/search?limit=50&q=${(index % 4096).toString(16).padStart(3, '0')}`),
    ),
    load('create issue', 3000, (index) => api('/repos/root/bench/issues', { method: 'POST', body: issue(index) })),
    load('list issues, page of 50', 1000, () => api('/repos/root/bench/issues?limit=50')),
    load('markdown of 10 KB, when new', 1000, (index) => api('/markdown', { method: 'POST', body: markdown(index) })),
    load('info/refs', 5000, () => fetch(`${url}/root/bench.git/info/refs?service=git-upload-pack`, VERSION_2)),
  ]
}

/** A text that nobody has rendered before. */
function markdown(index: number): string {
  return JSON.stringify({ Text: `${readme}\n${index} of ${Date.now()}`, Mode: 'markdown' })
}

function issue(index: number): string {
  return JSON.stringify({ title: `Issue ${index}`, body: 'Something that should be better.' })
}

function withoutBody(response: Response): Response {
  etag = response.headers.get('etag') ?? etag
  return response
}

/** The same statements through Bun.serve and postgres.js alone. */
async function measureBare({ databaseUrl, counted, token }: Stage): Promise<void> {
  const child = Bun.spawn([process.execPath, resolve(import.meta.dir, 'bare.ts'), databaseUrl], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const url = new TextDecoder().decode(value).trim()
  const bare = (name: string, requests: number, path: string): Load => ({
    name: `bare: ${name}`,
    requests: Math.ceil(requests * scale),
    connections: CONNECTIONS,
    send: () => fetch(url + path),
  })
  const loads = [
    bare('version', 10_000, '/version'),
    bare('current user by token', 10_000, `/user/${sha256Hex(token)}`),
    bare('get repository', 10_000, '/repos/root/bench'),
    bare('list, page of 50, no total', 1000, '/search'),
    {
      ...bare('create issue', 3000, ''),
      send: (index: number) => fetch(`${url}/repos/root/bench/issues`, { method: 'POST', body: issue(index) }),
    },
  ]
  for (const load of loads) say(row(await measure(load, { server: child.pid, database: counted.database })))
  child.kill()
}

async function measureTransport({ api, git, url, token, counted }: Stage): Promise<void> {
  for (const [name, content] of [
    ['random', 'files of random bytes'],
    ['text', 'text with a history'],
  ] as const) {
    const made = await api('/user/repos', { method: 'POST', body: JSON.stringify({ name }) })
    if (made.status !== 201) throw new Error(`creating a repository: ${made.status} ${await made.text()}`)
    const cloneUrl = new URL(`/root/${name}.git`, url)
    cloneUrl.username = 'root'
    cloneUrl.password = token
    const { href } = cloneUrl
    say(describeGit(await measureGit(git, { cloneUrl: href, content, sizeMiB: gitMiB, server: counted.server })))
  }
}

function describeGit({ content, sizeMiB, pushSeconds, first, again, bare, storm, ...memory }: GitMeasured): string {
  return [
    `git, ${sizeMiB} MiB of ${content}: push ${pushSeconds.toFixed(2)} s`,
    ...Object.entries({ 'first clone after a push': first, 'the same again': again, 'bare: the same': bare }).map(
      describeClone,
    ),
    `memory of the server: ${memory.idleMiB.toFixed(0)} MiB before, ${memory.peakMiB.toFixed(0)} MiB at most`,
    `${storm.clones} clones at once: ${storm.seconds.toFixed(2)} s, CPU of the server ${storm.serverCpu.toFixed(2)} s, ` +
      `${storm.peakMiB.toFixed(0)} MiB at most`,
  ].join('\n')
}

function describeClone([name, { seconds, plainSeconds, share }]: [string, CloneMeasured]): string {
  const speed = `${(share * 100).toFixed(0)} % of its speed`
  return `${name} ${seconds.toFixed(3)} s, beside git clone file:// ${plainSeconds.toFixed(3)} s (${speed})`
}

function row(result: Measured): string {
  const cells = [
    result.requestsPerSecond.toFixed(0),
    result.medianMs.toFixed(1),
    result.p99Ms.toFixed(1),
    result.serverCpu.toFixed(3),
    result.databaseCpu.toFixed(3),
    (result.serverCpu + result.databaseCpu).toFixed(3),
    result.residentMiB.toFixed(0),
  ]
  return result.name.padEnd(34) + cells.map((cell) => cell.padStart(10)).join('')
}
