import { join } from 'node:path'
import { openDatabase } from '../db/client.ts'
import { migrate } from '../db/migrate.ts'
import { jobHandlers } from './app/jobs.ts'
import { createPasswords } from './auth/password.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import type { Git } from './git/engine.ts'
import { handlerOf } from './jobs/handlers.ts'
import { migrateJobs } from './jobs/migrate.ts'
import { createJobs } from './jobs/queue.ts'
import { type Clock, systemClock } from './kernel/time.ts'
import { createLog, type Log } from './log.ts'
import { openStorage } from './storage.ts'
import { createTemplates } from './templates/templates.ts'

/** The address of the database, ours or an external one, brought to the state that this version needs. */
export async function openMigrated(config: Config, log: Log, built: AsyncDisposableStack): Promise<string> {
  const url = await openStorage(config, built)
  const applied = await migrate(url, { alsoMigrate: migrateJobs })
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
  return work(await createContext({ config, log, databaseUrl }, built))
}

export interface Ground {
  config: Config
  log: Log
  databaseUrl: string
  /** Where the program listens, if it does. */
  url?: string | undefined
  clock?: Clock | undefined
}

/** Everything that rules need. What it opens is closed with `built`. */
export async function createContext(ground: Ground, built: AsyncDisposableStack): Promise<Context> {
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
