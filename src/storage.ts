import { mkdirSync } from 'node:fs'
import type { Config } from './config.ts'
import { startEmbedded } from './postgres/embedded.ts'

/** Makes the folders and finds the database, starting our own if need be. Returns its address. */
export async function openStorage(config: Config, resources: AsyncDisposableStack): Promise<string> {
  // Repositories are private whatever the umask says; DATA_DIR itself may have to let PostgreSQL's user through.
  mkdirSync(config.dataDir, { recursive: true, mode: config.databaseUrl === undefined ? 0o711 : 0o700 })
  mkdirSync(config.repositoriesDir, { recursive: true, mode: 0o700 })
  if (config.databaseUrl !== undefined) return config.databaseUrl
  const server = await startEmbedded(config.dataDir)
  resources.defer(() => server.stop())
  return server.url
}
