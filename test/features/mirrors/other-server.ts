import { join } from 'node:path'
import { createGitClient, type GitClient } from '../../harness/git.ts'

export interface Seen {
  method: string
  path: string
  host: string
  authorization: string | undefined
}

/** A Git server of somebody else: `git http-backend` behind a small server. */
export interface OtherServer {
  port: number
  /** What was asked, oldest first. */
  seen: Seen[]
  git: GitClient
  /** `http://127.0.0.1:PORT/NAME.git`, or with another host. */
  url(name: string, host?: string): string
  /** A bare repository with a first commit on `main`. */
  create(name: string, option?: { objectFormat?: string }): Promise<void>
  /** Commits and pushes into it; returns the id of the commit. */
  commit(name: string, branch: string, file?: string): Promise<string>
  /** Runs git in the bare repository. */
  inside(name: string, ...args: string[]): Promise<string>
  /** Answers in place of Git, while it returns something. */
  answer: ((request: Request) => Response | undefined | Promise<Response | undefined>) | undefined
  /** `user:password` that it asks for. */
  credentials: string | undefined
  stop(): Promise<void>
}

export async function startOtherServer(volume: string): Promise<OtherServer> {
  const git = createGitClient(volume)
  const root = git.folder
  const execPath = await git(['--exec-path'])
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: serve })
  const { port = 0 } = server
  const other: OtherServer = {
    port,
    seen: [],
    git,
    url: (name, host = '127.0.0.1') => `http://${host}:${port}/${name}.git`,
    async create(name, { objectFormat = 'sha1' } = {}) {
      await git(['init', '-q', '--bare', `--object-format=${objectFormat}`, `${name}.git`])
      await git(['config', 'http.receivepack', 'true'], { cwd: join(root, `${name}.git`) })
      await other.commit(name, 'main')
    },
    async commit(name, branch, file = 'README.md') {
      const bare = join(root, `${name}.git`)
      const inside = (args: string[], input?: string) => git(args, { cwd: bare, ...(input !== undefined && { input }) })
      const blob = await inside(['hash-object', '-w', '--stdin'], `${branch} ${crypto.randomUUID()}\n`)
      const tree = await inside(['mktree'], `100644 blob ${blob}\t${file}\n`)
      const { stdout } = await git.run(['rev-parse', '--verify', '-q', `refs/heads/${branch}`], { cwd: bare })
      const parent = stdout.trim() === '' ? [] : ['-p', stdout.trim()]
      const commit = await inside(['commit-tree', tree, ...parent, '-m', `change of ${branch}`])
      await inside(['update-ref', `refs/heads/${branch}`, commit])
      return commit
    },
    inside: (name, ...args) => git(args, { cwd: join(root, `${name}.git`) }),
    answer: undefined,
    credentials: undefined,
    stop: () => server.stop(true),
  }
  return other

  async function serve(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const authorization = request.headers.get('authorization') ?? undefined
    other.seen.push({ method: request.method, path: pathname, host: request.headers.get('host') ?? '', authorization })
    const own = await other.answer?.(request)
    if (own) return own
    const wanted = other.credentials && `Basic ${btoa(other.credentials)}`
    if (wanted && authorization !== wanted)
      return new Response('who?', { status: 401, headers: { 'www-authenticate': 'Basic realm="other"' } })
    return backend(request)
  }

  /** CGI (RFC 3875), as far as `git http-backend` needs it. */
  async function backend(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const body = new Uint8Array(await request.arrayBuffer())
    const child = Bun.spawn([join(execPath, 'git-http-backend')], {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: root,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers.get('content-type') ?? '',
        CONTENT_LENGTH: String(body.length),
        HTTP_CONTENT_ENCODING: request.headers.get('content-encoding') ?? '',
        GIT_PROTOCOL: request.headers.get('git-protocol') ?? '',
        REMOTE_USER: 'somebody',
      },
      stdin: body,
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const output = Buffer.from(await new Response(child.stdout).arrayBuffer())
    const end = output.indexOf('\r\n\r\n')
    const headers = new Headers()
    for (const line of output.subarray(0, end).toString().split('\r\n')) {
      const at = line.indexOf(':')
      if (at > 0) headers.append(line.slice(0, at), line.slice(at + 1).trim())
    }
    const status = Number.parseInt(headers.get('status') ?? '200', 10)
    headers.delete('status')
    return new Response(output.subarray(end + 4), { status, headers })
  }
}
