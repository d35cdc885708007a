import { loadProcessConfig } from '../config.ts'
import { createLog, type Log } from '../log.ts'
import { type Service, startService } from '../service.ts'
import type { Command } from './arguments.ts'
import { waitForDatabase } from './wait-for-database.ts'
import { welcomeLine, welcomeText } from './welcome.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serves until it is stopped by SIGTERM or SIGINT. The default.',
  details: `Starts the built-in PostgreSQL unless DATABASE_URL is set, migrates the database, creates the first administrator
on an empty one, and listens. A database that is away is waited for, for a minute. On a signal it takes no new request, lets running ones end for at most
SHUTDOWN_TIMEOUT_SECONDS, and exits with 0; a second signal ends it at once.`,
  async run() {
    const config = loadProcessConfig()
    const log = createLog(config)
    keepAlive(log)
    const stopped = untilSignal()
    if (config.databaseUrl !== undefined) {
      const stopping = new AbortController()
      void stopped.then(() => stopping.abort())
      await waitForDatabase({ url: config.databaseUrl, log, signal: stopping.signal })
      if (stopping.signal.aborted) return 0
    }
    const service = await startService(config, { log })
    log.info({ url: service.url, publicUrl: service.context.baseUrl }, 'listening')
    welcome(service)
    const signal = await stopped
    log.info({ signal }, 'stopping')
    await service.stop()
    log.info('stopped')
    return 0
  },
}

/** A fault in one background promise must not end everybody's requests: it is logged as the bug it is. */
function keepAlive(log: Log): void {
  process.on('unhandledRejection', (err) => log.error({ err }, 'a promise failed and nobody looked'))
  process.on('uncaughtException', (err) => log.error({ err }, 'an error was thrown and nobody caught it'))
}

/** Ctrl-C reaches us twice under `bun run`: from the terminal, and from the runner that passes it on. */
const SAME_SIGNAL_MS = 1000

function untilSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let first: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      first ??= performance.now()
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1)
      resolve(signal)
    })
  return promise
}

/** To standard error, away from the log: it holds a password, and is for people. */
function welcome({ firstAdministrator, context: { baseUrl, config } }: Service): void {
  if (firstAdministrator === undefined) return
  const told = { ...firstAdministrator, baseUrl, hasReference: config.enableSwagger }
  process.stderr.write(config.logFormat === 'json' ? welcomeLine(told) : welcomeText(told))
}
