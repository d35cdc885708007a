import { spawn, spawnSync } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ConfigError } from '../config.ts'
import { randomHex } from '../kernel/hashing.ts'
import type { Account } from './account.ts'
import { readServerFile, type ServerFile } from './server-file.ts'

/** A database server's files: `data`, `password` and `server.log` in one folder. */
export interface Cluster {
  folder: string
  /** Folder of `initdb` and `postgres`. */
  programs: string
  account: Account | undefined
  /** False for tests: no fsync, many connections. */
  isDurable: boolean
}

export const ROLE = 'hearth'

const LOG_LIMIT_BYTES = 16 * 1024 * 1024
const START_MS = 60_000
const POLL_MS = 5
/** Names the socket and nothing else: no other server listens in the same folder. */
const SOCKET_PORT = 5432
const SOCKET = `.s.PGSQL.${SOCKET_PORT}`
/** The kernel's limit is 107 bytes on Linux and 103 elsewhere; the lock file beside the socket has five more. */
const MAX_SOCKET_PATH = 98
const PORT_TRIES = 10
const RETRY_MS = 100

const SETTINGS: readonly string[] = [
  'password_encryption=scram-sha-256',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
]
const THROWAWAY_SETTINGS: readonly string[] = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=400',
]

/** The server must not see the environment of our own process, which holds DATABASE_URL and tokens. */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }

export const dataFolder = ({ folder }: Cluster): string => join(folder, 'data')

export const clusterPassword = ({ folder }: Cluster): string => readFileSync(join(folder, 'password'), 'utf8').trim()

/** Makes the files unless they exist. Built under another name and renamed: a crash or a second process leaves no half. */
export function createCluster(cluster: Cluster): void {
  if (existsSync(dataFolder(cluster))) return
  const draft = { ...cluster, folder: `${cluster.folder}.new-${process.pid}` }
  rmSync(draft.folder, { recursive: true, force: true })
  mkdirSync(draft.folder, { recursive: true, mode: 0o700 })
  const password = join(draft.folder, 'password')
  writeFileSync(password, `${randomHex(24)}\n`, { mode: 0o600 })
  if (cluster.account !== undefined)
    for (const path of [draft.folder, password]) chownSync(path, cluster.account.uid, cluster.account.gid)
  try {
    initialize(draft, password)
    renameSync(draft.folder, cluster.folder)
  } catch (error) {
    rmSync(draft.folder, { recursive: true, force: true })
    if (!existsSync(dataFolder(cluster))) throw error
  }
}

function initialize(cluster: Cluster, passwordFile: string): void {
  const args = [
    `--pgdata=${dataFolder(cluster)}`,
    `--pwfile=${passwordFile}`,
    `--username=${ROLE}`,
    '--auth=scram-sha-256',
  ]
  // The builtin provider sorts and folds the same on every machine, whatever locales it has.
  args.push('--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8')
  if (!cluster.isDurable) args.push('--no-sync')
  const { status, stderr, error } = spawnSync(join(cluster.programs, 'initdb'), args, {
    ...cluster.account,
    cwd: '/',
    env: ENVIRONMENT,
    encoding: 'utf8',
  })
  if (status === 0) return
  const [, nameless] = /could not look up effective user ID (\d+)/.exec(stderr) ?? []
  throw nameless === undefined
    ? new Error(`PostgreSQL could not make its files: ${stderr || String(error)}`)
    : namelessUser(nameless)
}

/** As in a container with `--user NUMBER`. Only initdb asks for a user name; the server runs without one. */
const namelessUser = (uid: string) =>
  new ConfigError(
    `PostgreSQL makes its files only for a user with a name, and the user with the number ${uid} has none`,
    `add the line hearth:x:${uid}:${uid}::/:/usr/sbin/nologin to /etc/passwd, start as another user, or set DATABASE_URL`,
  )

/** Starts the server and waits until it accepts connections. */
export async function startCluster(cluster: Cluster): Promise<ServerFile> {
  let useSocket = hasShortPath(cluster)
  for (let attempt = 1; ; attempt += 1) {
    const started = await launch(cluster, useSocket ? onSocket(cluster) : await onLoopback())
    if (typeof started !== 'string') return started
    const problem = started
    // Some file systems, such as folders that a virtual machine shares with its host, have no sockets.
    if (useSocket && !/still in use|already exists/.test(problem)) {
      useSocket = false
      continue
    }
    // Somebody took the port in between, or sessions of a server that was killed have not ended yet.
    if (attempt === PORT_TRIES || !/Address already in use|could not bind|still in use/.test(problem))
      throw new Error(`PostgreSQL did not start: ${problem}`)
    await Bun.sleep(RETRY_MS)
  }
}

/**
 * A socket in the cluster's own folder, which only its user may enter. Statements cost a third less CPU over it than over the
 * loopback address, which is used where a socket is impossible.
 */
const onSocket = ({ folder }: Cluster): string[] => [
  'listen_addresses=',
  `unix_socket_directories=${folder}`,
  `port=${SOCKET_PORT}`,
]

const onLoopback = async (): Promise<string[]> => [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  `port=${await freePort()}`,
]

const hasShortPath = ({ folder }: Cluster): boolean => Buffer.byteLength(join(folder, SOCKET)) <= MAX_SOCKET_PATH

/** The server once it is ready, else the end of its log. */
async function launch(cluster: Cluster, listening: string[]): Promise<ServerFile | string> {
  const log = join(cluster.folder, 'server.log')
  if (existsSync(log) && statSync(log).size > LOG_LIMIT_BYTES) rmSync(log)
  const output = openSync(log, 'a', 0o600)
  const settings = [...listening, ...SETTINGS, ...(cluster.isDurable ? [] : THROWAWAY_SETTINGS)]
  // A session of its own: Ctrl-C reaches the whole group in a terminal, and the server must outlive our last request.
  const server = spawn(
    join(cluster.programs, 'postgres'),
    ['-D', dataFolder(cluster), ...settings.flatMap((setting) => ['-c', setting])],
    { ...cluster.account, cwd: '/', env: ENVIRONMENT, detached: true, stdio: ['ignore', output, output] },
  )
  closeSync(output)
  server.unref()
  let failure: string | undefined
  server.on('error', (error) => {
    failure = error.message
  })
  const deadline = performance.now() + START_MS
  while (performance.now() < deadline) {
    const file = readServerFile(dataFolder(cluster))
    if (file?.pid === server.pid && file?.isReady) return file
    if (failure !== undefined) return failure
    if (server.exitCode !== null || server.signalCode !== null) return tailOf(log)
    await Bun.sleep(POLL_MS)
  }
  return `not ready after ${START_MS / 1000} s: ${tailOf(log)}`
}

const tailOf = (log: string): string => readFileSync(log, 'utf8').trim().split('\n').slice(-8).join('\n')

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no free port'))
        else resolve(address.port)
      })
    })
  })
}
