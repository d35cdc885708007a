import { accessSync, constants, mkdirSync } from 'node:fs'
import { type Config, ConfigError } from './config.ts'
import { messageOf } from './kernel/thrown.ts'
import { startEmbedded } from './postgres/embedded.ts'

/** Makes the folders and finds the database, starting our own if need be. Returns its address. */
export async function openStorage(config: Config, resources: AsyncDisposableStack): Promise<string> {
  // Repositories are private whatever the umask says; DATA_DIR itself may have to let PostgreSQL's user through.
  makeFolder('DATA_DIR', config.dataDir, config.databaseUrl === undefined ? 0o711 : 0o700)
  makeFolder('REPOSITORIES_DIR', config.repositoriesDir, 0o700)
  if (config.databaseUrl !== undefined) return config.databaseUrl
  const server = await startEmbedded(config.dataDir)
  resources.defer(() => server.stop())
  return server.url
}

/** What the user's rights or the file system forbid is said of the setting; later it would be a fault of some file inside. */
function makeFolder(variable: string, folder: string, mode: number): void {
  try {
    mkdirSync(folder, { recursive: true, mode })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new ConfigError(
      `${variable}=${folder} cannot be written: ${messageOf(error)}`,
      `make it a folder that this user (number ${process.getuid?.()}) may write to, or set ${variable} to one`,
    )
  }
}
