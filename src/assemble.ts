import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openChannels } from '../db/channels.ts'
import { openDatabase } from '../db/client.ts'
import { migrate } from '../db/migrate.ts'
import { createWorkflows } from './actions/workflows/workflows.ts'
import { jobHandlers, reactions } from './app/jobs.ts'
import { createSignInJournal } from './audit/sign-ins.ts'
import { createPasswords, type HashCost } from './auth/password.ts'
import { createVerifiedPasswords } from './auth/verified.ts'
import { type Config, ConfigError } from './config.ts'
import type { Context } from './context.ts'
import { createDispatcher } from './events/dispatcher.ts'
import { createGit } from './git/cli/git.ts'
import type { Git } from './git/engine.ts'
import { GitError } from './git/errors.ts'
import { handlerOf } from './jobs/handlers.ts'
import { createJobs } from './jobs/queue.ts'
import { readHostPolicy } from './kernel/host-policy.ts'
import { type Clock, systemClock } from './kernel/time.ts'
import { createLog, type Log } from './log.ts'
import { createMailer } from './mail/mailer.ts'
import { openObjectStore } from './object-store/open.ts'
import { createOutbound, outboundLimits } from './outbound/client.ts'
import { createProviders, PROVIDER_LIMITS } from './outbound/openid.ts'
import { HostPlaces } from './outbound/places.ts'
import { createRenderer } from './render/renderer.ts'
import { openSecrets } from './secret-key/instance-key.ts'
import { loadInstanceSigning } from './signatures/instance.ts'
import { createOpenPgp } from './signatures/openpgp.ts'
import { openStorage } from './storage.ts'
import { createTemplates } from './templates/templates.ts'

/** The address of the database, ours or an external one, brought to the state that this version needs. */
export async function openMigrated(config: Config, log: Log, built: AsyncDisposableStack): Promise<string> {
  const url = await openStorage(config, built)
  const applied = await migrate(url)
  if (applied.length > 0) log.info({ applied }, 'database migrated')
  return url
}

/** Runs a command of the command line on the database and the repositories: no port is opened, no job is run. */
export async function withContext<Result>(
  config: Config,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  await using built = new AsyncDisposableStack()
  const log = createLog({ ...config, logLevel: 'warn' })
  const databaseUrl = await openMigrated(config, log, built)
  const stopping = new AbortController()
  built.defer(() => stopping.abort())
  return await work(await createContext({ config, log, databaseUrl, stopping: stopping.signal }, built))
}

export interface Ground {
  config: Config
  log: Log
  databaseUrl: string
  stopping: AbortSignal
  /** Where the program listens, if it does. */
  url?: string | undefined
  /** The same for SSH. */
  sshPort?: number | undefined
  clock?: Clock | undefined
  hashCost?: HashCost | undefined
}

/** Everything that rules need. What it opens is closed with `built`. */
export async function createContext(ground: Ground, built: AsyncDisposableStack): Promise<Context> {
  const { config, log, databaseUrl, stopping, clock = systemClock } = ground
  const { db, sql } = built.adopt(
    openDatabase(databaseUrl, { poolSize: config.databasePoolSize, timeoutSeconds: config.databaseTimeoutSeconds }),
    (database) => database.close(),
  )
  // Before anything is read or written with another key.
  const secrets = await openSecrets(db, config)
  const channels = built.adopt(openChannels({ url: databaseUrl, sql, label: secrets.fingerprint }), (open) =>
    open.close(),
  )
  const dispatcher = createDispatcher({ db, log, channels }, reactions)
  const mailer = built.adopt(createMailer(config), (open) => open?.close())
  const jobs = createJobs({
    url: databaseUrl,
    channels,
    log,
    handlerOf: handlerOf(jobHandlers, () => context),
    feed: dispatcher.dispatch,
  })
  built.defer(() => jobs.stop(config.shutdownTimeoutSeconds * 1000))
  const git = built.adopt(await openGit(config), (engine) => engine.close())
  const passwordLimits = {
    // A core stays free for everybody who is signed in already: on two cores it halves their wait.
    parallelism: Math.min(config.passwordHashParallelism, Math.max(1, availableParallelism() - 1)),
    queueLength: config.passwordHashQueue,
  }
  const passwords = built.adopt(createPasswords(passwordLimits, ground.hashCost), (threads) => threads.stop())
  const renderer = built.adopt(createRenderer(log), (threads) => threads.stop())
  const workflows = built.adopt(createWorkflows(), (threads) => threads.stop())
  const openPgp = built.adopt(createOpenPgp(), (threads) => threads.stop())
  const templates = createTemplates({ dir: join(config.dataDir, 'templates') })
  const baseUrl = baseUrlOf(config, ground.url)
  const context: Context = {
    config,
    db,
    sql,
    channels,
    git,
    objects: openObjectStore(config, log),
    jobs,
    templates,
    renderer,
    workflows,
    mailer,
    outbound: createOutbound({
      hosts: readHostPolicy(config.webhookAllowedHosts),
      proxy: config.webhookProxy,
      limits: outboundLimits(config.webhookTimeoutSeconds),
    }),
    providers: createProviders({
      outbound: createOutbound({ hosts: readHostPolicy(config.authSourceAllowedHosts), limits: PROVIDER_LIMITS }),
      clock,
    }),
    hostPlaces: new HostPlaces(),
    passwords,
    verified: createVerifiedPasswords(clock),
    signIns: createSignInJournal({ db, clock }),
    secrets,
    openPgp,
    signing: loadInstanceSigning(config),
    clock,
    log,
    baseUrl,
    sshRoot: sshRootOf(baseUrl, config.sshPublicPort ?? ground.sshPort ?? config.sshPort),
    stopping,
  }
  return context
}

/** What links begin with. @param url where the program listens, if it does */
export const baseUrlOf = ({ publicUrl, port }: Config, url: string | undefined): string =>
  (publicUrl ?? url ?? `http://localhost:${port}`).replace(/\/+$/, '')

/** Its host is that of the site. A port of its own has to be in the address, which the short form has no place for. */
function sshRootOf(baseUrl: string, port: number): string {
  const host = new URL(baseUrl).hostname
  return port === 22 || port === 0 ? `git@${host}:` : `ssh://git@${host}:${port}/`
}

/**
 * The engine with the limits of the settings.
 * @throws ConfigError when the git program is missing or too old
 */
export async function openGit(config: Config): Promise<Git> {
  // Short commands and transfers wait in different queues; a transfer lives longer and needs less of the processor.
  const commands = Math.max(1, Math.ceil(config.gitMaxProcesses / 3))
  const engine = createGit({
    repositoriesDir: config.repositoriesDir,
    maxProcesses: commands,
    maxTransfers: Math.max(1, config.gitMaxProcesses - commands),
    transferTimeoutMs: config.gitTimeoutSeconds * 1000,
    maxPushBytes: config.maxPushBytes,
    maxMemoryBytes: config.gitMaxMemoryBytes,
    maxTotalMemoryBytes: config.gitMaxMemoryTotal,
    streamCache: { folder: join(config.dataDir, 'cache', 'git'), maxBytes: config.gitCacheBytes },
    hookSeconds: config.enableGitHooks ? config.gitHookTimeoutSeconds : undefined,
  })
  return engine.catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error
    const tools = config.enableGitHooks ? 'Git 2.39 or newer, and for its hooks GNU coreutils,' : 'Git 2.39 or newer'
    throw new ConfigError(error.message, `install ${tools} and let PATH lead there`)
  })
}
