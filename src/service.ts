import { createApp } from './app/app.ts'
import { periodicTasks, reactions, startRepairs } from './app/jobs.ts'
import { baseUrlOf, createContext, openMigrated } from './assemble.ts'
import type { HashCost } from './auth/password.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { createDispatcher } from './events/dispatcher.ts'
import { FORM_BYTES } from './features/attachments/receive.ts'
import { provideBuiltInApplications } from './features/oauth-applications/built-in.ts'
import { createFirstAdministrator, type FirstAdministrator } from './first-admin.ts'
import type { Exchange } from './http/exchange.ts'
import { createHandler, refuseRequest } from './http/handler.ts'
import { listenError } from './http/listen-error.ts'
import { openServer } from './http/server.ts'
import { createCron } from './jobs/cron.ts'
import { registerCronTasks } from './jobs/cron-tasks.ts'
import type { Refusal } from './kernel/errors.ts'
import type { Clock } from './kernel/time.ts'
import { createLog, type Log } from './log.ts'
import { checkAtStart } from './object-store/open.ts'
import { openSshServer } from './ssh/server.ts'

export interface ServiceOptions {
  clock?: Clock
  /** What a password's hash costs; without it as much as it should. */
  hashCost?: HashCost
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

/** Builds everything from the ground up; what is opened is closed in the opposite order, also when a later step fails. */
export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  await using built = new AsyncDisposableStack()
  const log = options.log ?? createLog(config)
  const databaseUrl = await openMigrated(config, log, built)

  // Requests that arrive before the application is built wait for it.
  const { promise: application, resolve: ready } = Promise.withResolvers<Service['fetch']>()
  let fetch: Service['fetch'] = async (request) => (await application)(request)
  const listens = options.listens ?? true
  const http = listens ? await listen(config, log, (request) => fetch(request)) : undefined

  // Before the context as well: a free port becomes part of the addresses.
  const ssh = listens && config.sshEnabled ? await openSshServer(config) : undefined

  const stopping = new AbortController()
  const ports = { url: http?.url, sshPort: ssh?.port }
  const ground = {
    config,
    log,
    databaseUrl,
    stopping: stopping.signal,
    ...ports,
    clock: options.clock,
    hashCost: options.hashCost,
  }
  const context = await createContext(ground, built)
  built.defer(async () => {
    await Promise.all([http, ssh].map((server) => server?.stop(config.shutdownTimeoutSeconds)))
  })
  // Runs first: what waits or streams hears of the stop while its connection is still open.
  built.defer(() => stopping.abort())
  await checkAtStart(context.objects, config, log)
  const firstAdministrator = await createFirstAdministrator(context)
  await provideBuiltInApplications(context)
  for (const repair of startRepairs) await repair(context, stopping.signal)
  const app = createApp(context)
  if (options.worksJobs ?? true) await startJobs(context, built)
  // Listed and run by hand all the same; another replica, or `drain` in a test, does the work.
  else await registerCronTasks(context, periodicTasks)
  fetch = createHandler(context, app.fetch)
  ready(fetch)
  ssh?.open(context)
  if (ssh) log.info({ port: ssh.port, hostKey: ssh.fingerprint }, 'Git over SSH listens')
  const resources = built.move()
  return { url: http?.url ?? '', context, firstAdministrator, fetch, stop: () => resources.disposeAsync() }
}

/** The queue's worker and the timers of the periodic tasks. */
async function startJobs(context: Context, built: AsyncDisposableStack): Promise<void> {
  const cron = createCron(context, periodicTasks)
  const dispatcher = createDispatcher(context, reactions)
  built.defer(() => cron.stop())
  built.defer(() => dispatcher.stop())
  context.jobs.start()
  dispatcher.start()
  await cron.start()
}

/** Opens the port before the context is made: a free port (PORT=0) becomes part of the addresses that links show. */
async function listen(config: Config, log: Log, fetch: Service['fetch']) {
  let url: string | undefined
  const handlers = {
    fetch,
    refuse: (exchange: Exchange, refusal: Refusal) =>
      refuseRequest({ config, log, baseUrl: baseUrlOf(config, url) }, exchange, refusal),
  }
  const server = await openServer(handlers, {
    host: config.host,
    port: config.port,
    maxHeaderBytes: config.maxHeaderBytes,
    maxUrlBytes: config.maxUrlBytes,
    maxBodyBytes: Math.max(
      config.maxBodyBytes,
      config.maxPushBytes,
      config.releaseFileMaxSize + FORM_BYTES,
      config.lfsEnabled ? config.lfsMaxFileBytes : 0,
    ),
    idleSeconds: config.requestTimeoutSeconds,
    // Behind a proxy all come from its address, and the proxy counts them.
    maxConnectionsPerAddress: config.trustedProxies.length > 0 ? 0 : config.maxConnectionsPerAddress,
  }).catch((error: unknown) => {
    throw listenError(config, error) ?? error
  })
  const isLocal = ['127.0.0.1', '0.0.0.0', '::', '::1'].includes(config.host)
  const host = isLocal ? 'localhost' : config.host.includes(':') ? `[${config.host}]` : config.host
  url = `http://${host}:${server.port}`
  return { url, stop: server.stop }
}
