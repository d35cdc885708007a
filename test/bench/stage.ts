import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { connect } from '../../db/connect.ts'
import { startKeeper } from '../harness/database.ts'
import { createGitClient, type GitClient } from '../harness/git.ts'
import { serveProgram } from '../harness/program.ts'
import type { Counted } from './load.ts'
import { parentOf, residentMiB } from './processes.ts'

const PASSWORD = 'correct horse battery'

/** The program and its database in processes of their own, as an operator runs them. */
export interface Stage {
  url: string
  databaseUrl: string
  counted: Counted
  token: string
  /** Of the administrator, `root`. */
  password: string
  git: GitClient
  /** Where the server keeps repositories. */
  repositoriesDir: string
  startSeconds: number
  idleMiB: number
  /** Sends to the API with the administrator's token. */
  api(path: string, init?: RequestInit): Promise<Response>
  stop(): Promise<void>
}

/** @param prepare fills the migrated database before the start that is measured */
export async function openStage(prepare: (databaseUrl: string) => Promise<void>): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-bench-'))
  const keeper = await startKeeper({ isDurable: true })
  const databaseUrl = await createDatabase(keeper.url)
  // The first start migrates and makes the administrator; the second is the one that is measured.
  await (await startServer(folder, databaseUrl)).stop()
  await prepare(databaseUrl)
  const startedAt = performance.now()
  const server = await startServer(folder, databaseUrl)
  const startSeconds = (performance.now() - startedAt) / 1000
  const idleMiB = residentMiB(server.pid)
  const token = await createToken(server.url)
  const api: Stage['api'] = (path, init = {}) =>
    fetch(`${server.url}/api/v1${path}`, {
      ...init,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json', ...init.headers },
    })
  return {
    url: server.url,
    databaseUrl,
    counted: { server: server.pid, database: await postmaster(databaseUrl) },
    token,
    password: PASSWORD,
    git: createGitClient(folder),
    repositoriesDir: join(folder, 'data/repositories'),
    startSeconds,
    idleMiB,
    api,
    async stop() {
      await server.stop()
      await keeper.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function createDatabase(server: string): Promise<string> {
  const sql = connect(server, { max: 1 })
  await sql`create database bench`
  await sql.end()
  const url = new URL(server)
  url.pathname = '/bench'
  return url.href
}

/** What `bun run start` becomes; or the sources with flags of Bun such as `--cpu-prof`, to see where the time goes. */
function program(): string[] {
  const flags = (process.env.BENCH_BUN_FLAGS ?? '').split(' ').filter(Boolean)
  const source = flags.length === 0 ? '../../src/setup/start.ts' : '../../src/main.ts'
  return [process.execPath, ...flags, resolve(import.meta.dir, source)]
}

async function startServer(folder: string, databaseUrl: string) {
  const settings = {
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: databaseUrl,
    ADMIN_USERNAME: 'root',
    ADMIN_PASSWORD: PASSWORD,
    // For receivers beside us.
    WEBHOOK_ALLOWED_HOSTS: 'loopback',
    // 0, to see what git alone does.
    GIT_CACHE_BYTES: process.env.GIT_CACHE_BYTES ?? '',
  }
  const { url, pid, kill, exited } = await serveProgram(settings, { program: program() })
  const stop = async () => {
    kill('SIGTERM')
    await exited
  }
  return { url, pid, stop }
}

async function createToken(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/users/root/tokens`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`root:${PASSWORD}`)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', scopes: ['all'] }),
  })
  const body: unknown = await answer.json()
  if (typeof body === 'object' && body !== null && 'sha1' in body && typeof body.sha1 === 'string') return body.sha1
  throw new Error(`no token: ${JSON.stringify(body)}`)
}

/** Every connection's process is a child of the one that is wanted. */
async function postmaster(databaseUrl: string): Promise<number> {
  const sql = connect(databaseUrl, { max: 1 })
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const pid = parentOf(row?.pid ?? 0)
  await sql.end()
  return pid
}
