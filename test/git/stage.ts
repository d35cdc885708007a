import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGit, type GitOption } from '../../src/git/cli/git.ts'
import type { Git } from '../../src/git/engine.ts'
import { GitError, type GitErrorCode } from '../../src/git/errors.ts'
import type { GitService, Signature, TreeChange } from '../../src/git/model.ts'
import { storagePath } from '../../src/git/storage.ts'

/** The engine over a store of its own, and a folder for clones; both go with `close`. */
export interface Stage {
  git: Git
  root: string
  folder(id: number): string
  /** A fresh path for a clone. */
  work(name: string): string
  close(): Promise<void>
}

export async function openStage(option: Partial<GitOption> = {}): Promise<Stage> {
  const place = await mkdtemp(join(tmpdir(), 'hearth-git-test-'))
  const root = join(place, 'store')
  const git = await createGit({ repositoriesDir: root, ...option })
  return {
    git,
    root,
    folder: (id) => join(root, storagePath(id)),
    work: (name) => join(place, name),
    async close() {
      await git.close()
      await rm(place, { recursive: true, force: true })
    },
  }
}

export const ann: Signature = { name: 'Ann', email: 'ann@example.com', date: new Date('2024-05-06T07:08:09Z') }

export const initialCommit = {
  files: [
    { path: 'README.md', content: '# test\n' },
    { path: 'src/main.ts', content: 'main\n' },
  ],
  author: ann,
  committer: ann,
  message: 'Initial commit',
}

export const commit = (git: Git, id: number, changes: TreeChange[], branch = 'main') =>
  git.commitFiles(id, { branch, changes, author: ann, committer: ann, message: 'change' })

/** The code of the refusal that the work ends in; undefined when it succeeds. Other errors are passed on. */
export async function codeOf(work: Promise<unknown>): Promise<GitErrorCode | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof GitError) return error.code
    throw error
  }
}

export interface Ran {
  exitCode: number
  stdout: string
  stderr: string
}

/** The real client, cut off from the settings of whoever runs the tests. */
export async function run(args: string[], cwd = '/', env: Record<string, string> = {}): Promise<Ran> {
  const child = Bun.spawn(['git', ...args], {
    cwd,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Ann',
      GIT_AUTHOR_EMAIL: 'ann@example.com',
      GIT_COMMITTER_NAME: 'Ann',
      GIT_COMMITTER_EMAIL: 'ann@example.com',
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
      ...env,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, stdout, stderr }
}

/** `run` that must succeed; gives the output without the last newline. */
export async function must(args: string[], cwd = '/', env: Record<string, string> = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await run(args, cwd, env)
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')} ended with ${exitCode}: ${stderr}`)
  return stdout.trimEnd()
}

const isService = (text: string | null | undefined): text is GitService =>
  text === 'upload-pack' || text === 'receive-pack'

export type PushJudge = (body: ReadableStream<Uint8Array>) => Promise<ReadableStream<Uint8Array> | Uint8Array>

/** Smart HTTP as a feature would offer it, without permissions: `/<id>`. `judge` may look at a push first. */
export function openServer({ git }: Stage, option: { judge?: PushJudge; maxInputBytes?: number } = {}) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 1024 ** 3,
    async fetch(request, bun) {
      bun.timeout(request, 0)
      const url = new URL(request.url)
      const id = Number(url.pathname.split('/')[1])
      const protocol = request.headers.get('git-protocol') ?? undefined
      const asked = url.searchParams.get('service')?.replace(/^git-/, '')
      if (isService(asked)) {
        const { stream } = await git.advertise(id, asked, { protocol })
        return answer(stream, `application/x-git-${asked}-advertisement`)
      }
      const service = url.pathname.split('/git-')[1]
      if (!isService(service) || !request.body) return new Response('no', { status: 404 })
      const type = `application/x-git-${service}-result`
      const isZipped = request.headers.get('content-encoding') === 'gzip'
      const plain = isZipped ? request.body.pipeThrough(new DecompressionStream('gzip')) : request.body
      const judged = service === 'receive-pack' && option.judge ? await option.judge(plain) : plain
      if (judged instanceof Uint8Array) return new Response(Buffer.from(judged), { headers: { 'content-type': type } })
      const { signal } = request
      const { stream } = await git.serve(id, service, {
        body: judged,
        protocol,
        signal,
        maxInputBytes: option.maxInputBytes,
      })
      return answer(stream, type)
    },
  })
  return { url: (id: number) => `http://127.0.0.1:${server.port}/${id}`, close: () => server.stop(true) }
}

const answer = (stream: ReadableStream<Uint8Array>, type: string) =>
  new Response(stream, { headers: { 'content-type': type, 'cache-control': 'no-cache' } })
