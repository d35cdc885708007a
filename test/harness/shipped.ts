import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createBareDatabase } from './database.ts'
import { serveProgram } from './program.ts'

const program = [process.execPath, resolve(import.meta.dir, '../../src/setup/start.ts')]

/** The service as people run it: compiled, in a process of its own, on an empty database, with no setting changed but these. */
export async function startShipped(settings: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-shipped-'))
  const database = await createBareDatabase()
  const admin = { name: 'root', password: 'open sesame 1' }
  const own = {
    DATA_DIR: folder,
    DATABASE_URL: database.url,
    ADMIN_USERNAME: admin.name,
    ADMIN_PASSWORD: admin.password,
  }
  const { url, kill, exited } = await serveProgram({ ...own, ...settings }, { program })
  const stop = async () => {
    kill('SIGTERM')
    await exited
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { url, admin, stop }
}
