import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../db/client.ts'
import { migrate } from '../db/migrate.ts'
import { createApp } from './app/app.ts'
import { jobHandlers, periodicTasks } from './app/jobs.ts'
import { createPasswords } from './auth/password.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { createFirstAdministrator, type FirstAdministrator } from './first-admin.ts'
import type { Git } from './git/engine.ts'
import { refusalResponse } from './http/errors.ts'
import { openFront } from './http/front.ts'
import { createCron } from './jobs/cron.ts'
import { handlerOf } from './jobs/handlers.ts'
import { migrateJobs } from './jobs/migrate.ts'
import { createJobs } from './jobs/queue.ts'
import { Refusal } from './kernel/errors.ts'
import { type Clock, systemClock } from './kernel/time.ts'
import { createLog, type Log } from './log.ts'
import { startEmbedded } from './postgres/embedded.ts'
import { createTemplates } from './templates/templates.ts'

export interface ServiceOptions {
  clock?: Clock
  log?: Log
  /** False: no port is opened, requests come through `fetch` only. */
  listens?: boolean
  /** False: jobs wait until `context.jobs.drain()` runs them. */
  worksJobs?: boolean
}

/** The whole program, running. */
export interface Service {
  /** Where it listens; empty when it does not. */
  url: string
  context: Context
  /** Set when this start found an empty database. */
  firstAdministrator: FirstAdministrator | undefined
  fetch(request: Request): Response | Promise<Response>
  /** Lets running requests and jobs end within the configured time, then closes everything. */
  stop(): Promise<void>
}

/** What the commands need that work without the application: the database, migrated, and how to leave it. */
export async function openStorage(config: Config, resources: AsyncDisposableStack): Promise<string> {
  // Repositories are private whatever the umask says; DATA_DIR itself may have to let PostgreSQL's user through.
  mkdirSync(config.dataDir, { recursive: true, mode: config.databaseUrl === undefined ? 0o711 : 0o700 })
  mkdirSync(config.repositoriesDir, { recursive: true, mode: 0o700 })
  if (config.databaseUrl !== undefined) return config.databaseUrl
  const server = await startEmbedded(config.dataDir)
  resources.defer(() => server.stop())
  return server.url
}

/** Builds everything from the ground up; what is opened is closed in the opposite order, also when a later step fails. */
export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  await using built = new AsyncDisposableStack()
  const log = options.log ?? createLog(config)
  const databaseUrl = await openStorage(config, built)
  const applied = await migrate(databaseUrl, { alsoMigrate: migrateJobs })
  if (applied.length > 0) log.info({ applied }, 'database migrated')

  // Requests that arrive before the application is built wait for it.
  const { promise: application, resolve: ready } = Promise.withResolvers<Service['fetch']>()
  let fetch: Service['fetch'] = async (request) => (await application)(request)
  const listens = options.listens ?? true
  const front = listens
    ? await listen(config, { fetch: (request) => fetch(request), context: () => context })
    : undefined

  const context = await createContext({ config, log, databaseUrl, url: front?.url, clock: options.clock }, built)
  built.defer(() => front?.stop(config.shutdownTimeoutSeconds))
  const firstAdministrator = await createFirstAdministrator(context)
  const app = createApp(context)
  if (options.worksJobs ?? true) await startJobs(context, built)
  fetch = app.fetch
  ready(fetch)
  const resources = built.move()
  return { url: front?.url ?? '', context, firstAdministrator, fetch, stop: () => resources.disposeAsync() }
}

interface Ground {
  config: Config
  log: Log
  databaseUrl: string
  /** Where the program listens, if it does. */
  url: string | undefined
  clock: Clock | undefined
}

async function createContext(ground: Ground, built: AsyncDisposableStack): Promise<Context> {
  const { config, log, databaseUrl, clock = systemClock } = ground
  const stopping = new AbortController()
  const { db, sql } = built.adopt(
    openDatabase(databaseUrl, { poolSize: config.databasePoolSize, timeoutSeconds: config.databaseTimeoutSeconds }),
    (database) => database.close(),
  )
  const jobs = createJobs({ sql, log, handlerOf: handlerOf(jobHandlers, () => context) })
  built.defer(() => jobs.stop(config.shutdownTimeoutSeconds * 1000))
  built.defer(() => stopping.abort())
  const git: Git = Object.create({})
  const passwords = createPasswords({
    parallelism: config.passwordHashParallelism,
    queueLength: config.passwordHashQueue,
  })
  const templates = createTemplates({ dir: join(config.dataDir, 'templates') })
  const baseUrl = (config.publicUrl ?? ground.url ?? `http://localhost:${config.port}`).replace(/\/+$/, '')
  const context: Context = {
    config,
    db,
    sql,
    git,
    jobs,
    templates,
    passwords,
    clock,
    log,
    baseUrl,
    stopping: stopping.signal,
  }
  return context
}

/** The queue's worker and the timers of the periodic tasks. */
async function startJobs(context: Context, built: AsyncDisposableStack): Promise<void> {
  const cron = createCron(context, periodicTasks)
  built.defer(() => cron.stop())
  await context.jobs.start()
  await cron.start()
}

interface Doors {
  fetch: Service['fetch']
  context(): Context
}

/** Opens the port before the context is made: a free port (PORT=0) becomes part of the addresses that links show. */
async function listen(config: Config, { fetch, context }: Doors) {
  const handlers = {
    fetch,
    refuseUrl: (request: Request) => refusalResponse(context(), new Refusal(414, 'the address is too long'), request),
  }
  const front = await openFront(handlers, {
    host: config.host,
    port: config.port,
    maxHeaderBytes: config.maxHeaderBytes,
    maxUrlBytes: config.maxUrlBytes,
    maxBodyBytes: Math.max(config.maxBodyBytes, config.maxPushBytes),
    idleSeconds: config.requestTimeoutSeconds,
  })
  const isLocal = ['127.0.0.1', '0.0.0.0', '::', '::1'].includes(config.host)
  const host = isLocal ? 'localhost' : config.host.includes(':') ? `[${config.host}]` : config.host
  return { url: `http://${host}:${front.port}`, stop: front.stop }
}
