import { runCommandLine } from './cli/run.ts'
import { loadProcessConfig } from './config.ts'
import { type Service, startService } from './service.ts'

export type { App } from './app/app.ts'

let service: Promise<Service> | undefined

/** The application as a web-standard handler for whoever imports this module: built at the first request, without a port. */
export async function fetch(request: Request): Promise<Response> {
  service ??= startService(loadProcessConfig(), { listens: false })
  return (await service).fetch(request)
}

if (import.meta.main) process.exit(await runCommandLine(process.argv.slice(2)))
