import { createServer } from 'node:http'
import { join } from 'node:path'
import { connect } from '../../db/connect.ts'
import { type Content, makeSource } from '../bench/git-source.ts'
import { cpuSeconds } from '../bench/processes.ts'
import { openStage, type Stage } from '../bench/stage.ts'
import { cloneRequest } from '../features/transport/private-stage.ts'
import type { GitClient } from '../harness/git.ts'

/**
 * CPU of clones of 20 MiB and of a push of 100 commits, in ms, which is as many seconds for 1,000. Clones are measured beside
 * `git http-backend` behind a server that does nothing else, on a folder with a bitmap, as maintenance leaves one. `curl` asks, so that
 * the work of a client is not counted: `bun test/scripts/measure-clones.ts [MIB]`, two minutes for 20.
 */
const ROUNDS = 8
const PUSHES = 4
const COMMITS = 100
const CONTENTS: readonly Content[] = ['text with a history', 'files of random bytes']

type Prepared = Awaited<ReturnType<typeof prepare>>

async function prepare(
  { git, ...stage }: Stage,
  { content, number, mib }: { content: Content; number: number; mib: number },
) {
  const source = join(git.folder, `source${number}`)
  await makeSource(git, source, content, mib)
  await stage.api('/user/repos', { method: 'POST', body: JSON.stringify({ name: `clone${number}` }) })
  const url = new URL(`${stage.url}/root/clone${number}.git`)
  url.username = 'root'
  url.password = stage.token
  await git(['push', '-q', url.href, 'HEAD:main'], { cwd: source })
  const head = await git(['rev-parse', 'HEAD'], { cwd: source })
  const bare = join(git.folder, `bare${number}.git`)
  await git(['clone', '-q', '--bare', source, bare])
  await git(['repack', '-adq', '--write-bitmap-index'], { cwd: bare })
  return { content, head, source, pushUrl: url.href, url: `${stage.url}/root/clone${number}.git/git-upload-pack`, bare }
}

let requests = 0

/** A request that no cache knows: an option may be repeated. */
const fresh = (head: string) =>
  cloneRequest(head, ['thin-pack', 'ofs-delta', ...Array.from({ length: ++requests }, () => 'no-progress')])

async function fetchPack(url: string, { headers, body }: ReturnType<typeof cloneRequest>): Promise<void> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const child = Bun.spawn(['curl', '-sf', '-o', '/dev/null', ...fields, '--data-binary', '@-', url], { stdin: body })
  if ((await child.exited) !== 0) throw new Error('curl failed')
}

/** CPU of the processes in ms for each round, after a first one for warming up. */
async function measure(pids: readonly number[], work: () => Promise<void>, rounds = ROUNDS): Promise<number> {
  const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  await work()
  await Bun.sleep(200)
  const before = used()
  for (let round = 0; round < rounds; round++) await work()
  await Bun.sleep(200)
  return ((used() - before) * 1000) / rounds
}

/** Repositories get their bitmaps from the periodic task. */
async function maintain({ api, databaseUrl }: Stage): Promise<void> {
  const started = await api('/admin/cron/git_gc_repos', { method: 'POST' })
  if (started.status !== 204) throw new Error(`maintenance: ${started.status}`)
  const sql = connect(databaseUrl, { max: 1 })
  const left = () =>
    sql`select 1 from repositories left join repository_checks on repository_id = id where maintained_at is null`
  while ((await left()).length > 0) await Bun.sleep(200)
  await sql.end()
}

/** A branch of new commits that each change one file. */
async function addCommits(git: GitClient, cwd: string, branch: string): Promise<void> {
  const commits = Array.from({ length: COMMITS }, (_, number) => {
    const text = `${branch} ${number}\n`
    const head = `commit refs/heads/${branch}\ncommitter T <t@localhost> ${1_700_000_000 + number} +0000\ndata ${text.length}\n${text}`
    const parent = number === 0 ? 'from refs/heads/main^0\n' : ''
    return `${head}${parent}M 100644 inline changed\ndata ${text.length}\n${text}\n`
  })
  await git(['fast-import', '--quiet'], { cwd, input: commits.join('') })
}

async function measurePush({ git, counted }: Stage, { source, pushUrl }: { source: string; pushUrl: string }) {
  for (let number = 0; number <= PUSHES; number++) await addCommits(git, source, `push${number}`)
  let number = 0
  const push = async () => void (await git(['push', '-q', pushUrl, `push${number++}`], { cwd: source }))
  return measure([counted.server, counted.database], push, PUSHES)
}

/** git http-backend as a CGI program, in a process of its own: this file with `backend` and the folder as its arguments. */
async function openBackend(root: string) {
  const child = Bun.spawn([process.execPath, import.meta.path, 'backend', root], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  return { pid: child.pid, port: Number(Buffer.from(value ?? []).toString()), stop: () => child.kill() }
}

function serveBackend(root: string): void {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const env = {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: 'version=2',
      REQUEST_METHOD: 'POST',
      PATH_INFO: request.url,
      CONTENT_TYPE: 'application/x-git-upload-pack-request',
      CONTENT_LENGTH: String(Buffer.concat(chunks).length),
    }
    const child = Bun.spawn(['git', 'http-backend'], { env, stdin: Buffer.concat(chunks), stdout: 'pipe' })
    for await (const chunk of child.stdout)
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve))
    response.end()
  })
  server.listen(0, '127.0.0.1', () => console.info(Object(server.address()).port))
}

if (process.argv[2] === 'backend') serveBackend(process.argv[3] ?? '')
else await main(Number(process.argv[2] ?? 20))

async function main(mib: number): Promise<void> {
  const stage = await openStage(async () => undefined)
  try {
    const prepared: Prepared[] = []
    for (const [number, content] of CONTENTS.entries()) prepared.push(await prepare(stage, { content, number, mib }))
    await maintain(stage)
    for (const one of prepared) await measureClones(stage, one)
    for (const one of prepared) {
      const cost = await measurePush(stage, one)
      console.info(`a push of ${COMMITS} commits beside ${one.content}, database included: ${cost.toFixed(0)} ms`)
    }
  } finally {
    await stage.stop()
  }
}

async function measureClones({ git, counted }: Stage, { content, head, url, bare }: Prepared): Promise<void> {
  const server = [counted.server]
  const one = await measure(server, () => fetchPack(url, fresh(head)))
  const known = fresh(head)
  const cached = await measure(server, () => fetchPack(url, known))
  const eight = await measure(server, async () => {
    const body = fresh(head)
    await Promise.all(Array.from({ length: 8 }, () => fetchPack(url, body)))
  })
  const backend = await openBackend(git.folder)
  const path = `http://127.0.0.1:${backend.port}/${bare.slice(git.folder.length + 1)}/git-upload-pack`
  const plain = await measure([backend.pid], () => fetchPack(path, fresh(head)))
  backend.stop()
  const alone = await measureAlone(git.folder, bare.slice(git.folder.length + 1), fresh(head).body)
  console.info(
    `${content}: one ${one.toFixed(0)} ms, cached ${cached.toFixed(0)} ms, ` +
      `eight at once ${eight.toFixed(0)} ms together, ${(eight / 8).toFixed(0)} ms each; ` +
      `git http-backend behind a plain server ${plain.toFixed(0)} ms, without a server ${alone.toFixed(0)} ms`,
  )
}

/** What the program itself takes, into a pipe. */
async function measureAlone(root: string, path: string, body: Uint8Array): Promise<number> {
  let microseconds = 0
  for (let round = 0; round < ROUNDS; round++) {
    const env = {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: 'version=2',
      REQUEST_METHOD: 'POST',
      PATH_INFO: `/${path}/git-upload-pack`,
      CONTENT_TYPE: 'application/x-git-upload-pack-request',
      CONTENT_LENGTH: String(body.length),
    }
    const child = Bun.spawn(['git', 'http-backend'], { env, stdin: body, stdout: 'pipe' })
    for await (const _ of child.stdout);
    await child.exited
    microseconds += Number(child.resourceUsage()?.cpuTime.total ?? 0)
  }
  return microseconds / 1000 / ROUNDS
}
