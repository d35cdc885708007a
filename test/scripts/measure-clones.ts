import { createServer } from 'node:http'
import { join } from 'node:path'
import { type Content, makeSource } from '../bench/git-source.ts'
import { cpuSeconds } from '../bench/processes.ts'
import { openStage, type Stage } from '../bench/stage.ts'
import { cloneRequest } from '../features/transport/private-stage.ts'

/**
 * CPU of one clone of 20 MiB, and of eight equal ones at once, beside `git http-backend` behind a server that does nothing else.
 * `curl` asks, so that the work of a client is not counted: `bun test/scripts/measure-clones.ts`.
 */
const ROUNDS = 8
const CONTENTS: readonly Content[] = ['text with a history', 'files of random bytes']

async function prepare({ git, ...stage }: Stage, content: Content, number: number) {
  const source = join(git.folder, `source${number}`)
  await makeSource(git, source, content, 20)
  await stage.api('/user/repos', { method: 'POST', body: JSON.stringify({ name: `clone${number}` }) })
  const url = new URL(`${stage.url}/root/clone${number}.git`)
  url.username = 'root'
  url.password = stage.token
  await git(['push', '-q', url.href, 'HEAD:main'], { cwd: source })
  const head = await git(['rev-parse', 'HEAD'], { cwd: source })
  const bare = join(git.folder, `bare${number}.git`)
  await git(['clone', '-q', '--bare', source, bare])
  await git(['repack', '-adq', '--write-bitmap-index'], { cwd: bare })
  return { head, url: `${stage.url}/root/clone${number}.git/git-upload-pack`, bare }
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

async function measure(pid: number, work: () => Promise<void>): Promise<number> {
  await work()
  await Bun.sleep(200)
  const before = cpuSeconds(pid)
  for (let round = 0; round < ROUNDS; round++) await work()
  await Bun.sleep(200)
  return ((cpuSeconds(pid) - before) * 1000) / ROUNDS
}

/** git http-backend as a CGI program, in a process of its own: this file with the folder as its argument. */
async function openBackend(root: string) {
  const child = Bun.spawn([process.execPath, import.meta.path, root], { stdout: 'pipe' })
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

if (process.argv[2] !== undefined) serveBackend(process.argv[2])
else await main()

async function main(): Promise<void> {
  const stage = await openStage(async () => undefined)
  const { git } = stage
  for (const [number, content] of CONTENTS.entries()) {
    const { head, url, bare } = await prepare(stage, content, number)
    const { server } = stage.counted
    const one = await measure(server, () => fetchPack(url, fresh(head)))
    const known = fresh(head)
    const cached = await measure(server, () => fetchPack(url, known))
    const eight = await measure(server, async () => {
      const body = fresh(head)
      await Promise.all(Array.from({ length: 8 }, () => fetchPack(url, body)))
    })
    const backend = await openBackend(git.folder)
    const path = `http://127.0.0.1:${backend.port}/${bare.slice(git.folder.length + 1)}/git-upload-pack`
    const plain = await measure(backend.pid, () => fetchPack(path, fresh(head)))
    backend.stop()
    const alone = await measureAlone(git.folder, bare.slice(git.folder.length + 1), fresh(head).body)
    console.info(
      `${content}: one ${one.toFixed(0)} ms, cached ${cached.toFixed(0)} ms, eight at once ${eight.toFixed(0)} ms; ` +
        `git http-backend behind a plain server ${plain.toFixed(0)} ms, without a server ${alone.toFixed(0)} ms`,
    )
  }
  await stage.stop()
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
