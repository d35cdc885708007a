import postgres from 'postgres'
import { connect } from '../../db/connect.ts'
import { errorCode } from '../kernel/thrown.ts'
import { databaseAccount } from './account.ts'
import { type Cluster, clusterPassword, createCluster, dataFolder, ROLE, startCluster } from './cluster.ts'
import { databaseFolder } from './place.ts'
import { databasePrograms } from './programs.ts'
import { findServer, type ServerFile } from './server-file.ts'

/** A database server that this program keeps for itself. */
export interface EmbeddedPostgres {
  /** Address of the database `hearth`. */
  url: string
  /** Stops the server. Unless `evenIfUsed`, it keeps running while another process uses it. */
  stop(evenIfUsed?: boolean): Promise<void>
}

const DATABASE = 'hearth'
const STOP_MS = 60_000
const POLL_MS = 5

/**
 * Makes, if need be, and starts the server that belongs to a data folder. A server that a killed process left behind,
 * or that another process of the same data folder uses, is taken over as it is.
 */
export async function startEmbedded(dataDir: string): Promise<EmbeddedPostgres> {
  const account = databaseAccount()
  const folder = databaseFolder(dataDir, account)
  return startServer({ folder, account, programs: databasePrograms(account), isDurable: true })
}

/** The same for files in any folder that the account can enter. */
export async function startServer(cluster: Cluster): Promise<EmbeddedPostgres> {
  createCluster(cluster)
  const server = await reachServer(cluster)
  return {
    url: addressOf(cluster, server, DATABASE),
    stop: (evenIfUsed) => stopServer(cluster, evenIfUsed ? undefined : addressOf(cluster, server, 'postgres')),
  }
}

function addressOf(cluster: Cluster, { port, socketFolder }: ServerFile, database: string): string {
  const key = socketFolder === undefined ? '' : `?host=${encodeURIComponent(socketFolder)}`
  return `postgres://${ROLE}:${clusterPassword(cluster)}@127.0.0.1:${port}/${database}${key}`
}

/** The server, running and with our database. One that was killed a moment ago may still look alive. */
async function reachServer(cluster: Cluster): Promise<ServerFile> {
  const deadline = performance.now() + STOP_MS
  for (;;) {
    const server = (await runningServer(cluster)) ?? (await startOrJoin(cluster))
    try {
      await createDatabase(addressOf(cluster, server, 'postgres'))
      return server
    } catch (error) {
      if (!isGone(error) || performance.now() > deadline) throw error
      await Bun.sleep(POLL_MS)
    }
  }
}

const isGone = (error: unknown): boolean =>
  /^(ECONNREFUSED|ECONNRESET|ENOENT|CONNECTION_CLOSED|57P0[123])$/.test(errorCode(error) ?? '')

/** The server that runs on these files. One that starts or stops right now is waited for. */
async function runningServer(cluster: Cluster): Promise<ServerFile | undefined> {
  const deadline = performance.now() + STOP_MS
  while (performance.now() < deadline) {
    const server = findServer(dataFolder(cluster))
    if (server === undefined) return undefined
    if (server.isReady) return server
    await Bun.sleep(POLL_MS)
  }
  throw new Error(`the PostgreSQL in ${cluster.folder} neither starts nor stops; see server.log there`)
}

/** When two processes start the same cluster, PostgreSQL refuses the second one, which then uses the server of the first. */
async function startOrJoin(cluster: Cluster): Promise<ServerFile> {
  try {
    return await startCluster(cluster)
  } catch (error) {
    const server = await runningServer(cluster)
    if (server === undefined) throw error
    return server
  }
}

const DUPLICATE_DATABASE = '42P04'

async function createDatabase(url: string): Promise<void> {
  const sql = connect(url, { max: 1, onnotice: () => undefined })
  try {
    const found = await sql`select 1 from pg_database where datname = ${DATABASE}`
    if (found.length === 0) await sql`create database ${sql(DATABASE)}`
  } catch (error) {
    const isRace = error instanceof postgres.PostgresError && error.code === DUPLICATE_DATABASE
    if (!isRace) throw error
  } finally {
    await sql.end()
  }
}

async function stopServer(cluster: Cluster, urlToAsk: string | undefined): Promise<void> {
  const server = findServer(dataFolder(cluster))
  if (server === undefined || (urlToAsk !== undefined && (await hasOtherClients(urlToAsk)))) return
  shutDown(server)
  const deadline = performance.now() + STOP_MS
  while (findServer(dataFolder(cluster))?.pid === server.pid) {
    if (performance.now() > deadline) throw new Error(`PostgreSQL (process ${server.pid}) did not stop`)
    await Bun.sleep(POLL_MS)
  }
}

/** SIGINT is PostgreSQL's fast shutdown: sessions are ended, everything is written. */
function shutDown({ pid }: ServerFile): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    // It has just ended by itself.
    if (errorCode(error) !== 'ESRCH') throw error
  }
}

/** A session of ours whose connection is closed may take this long to end on a busy machine. */
const SESSION_END_MS = 500

/** Called after our own pools are closed, so a session that stays belongs to another process, such as a `user create`. */
async function hasOtherClients(url: string): Promise<boolean> {
  const sql = connect(url, { max: 1, onnotice: () => undefined })
  const deadline = performance.now() + SESSION_END_MS
  try {
    for (;;) {
      const others = await sql`select 1 from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`
      if (others.length === 0) return false
      if (performance.now() > deadline) return true
      await Bun.sleep(POLL_MS)
    }
  } catch (error) {
    // It stops already: systemd, say, ends every process of a service.
    if (isGone(error)) return false
    throw error
  } finally {
    await sql.end()
  }
}
