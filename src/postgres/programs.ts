import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../config.ts'
import { type Account, canEnter } from './account.ts'
import { packagedPrograms } from './packages.ts'
import { SHARED_PLACE } from './place.ts'

/** Folder of PostgreSQL's programs, usable by the account. */
export function databasePrograms(account: Account | undefined): string {
  const { folder, version } = installedPrograms()
  const bin = join(folder, 'bin')
  return canEnter(account, bin) ? bin : join(sharedCopy(folder, version), 'bin')
}

/**
 * Those beside the program, which the image and a compiled checkout (src/setup/compiled-program.ts) have, or those of the
 * installed packages.
 */
function installedPrograms(): { folder: string; version: string } {
  const beside = resolve(dirname(process.execPath), '../lib/hearth/postgresql')
  const folder = existsSync(join(beside, 'bin', 'postgres')) ? realpathSync(beside) : packagedPrograms(import.meta.dir)
  if (folder === undefined)
    throw new ConfigError(
      'DATABASE_URL is not set, and there is no PostgreSQL inside this program',
      'set it to a PostgreSQL 15 or newer, for example postgres://hearth:secret@localhost/hearth',
    )
  return { folder, version: versionOf(folder) }
}

/** That of the package around the programs. The image has them without it. */
function versionOf(folder: string): string {
  const description = join(dirname(folder), 'package.json')
  if (!existsSync(description)) return 'image'
  return /"version":\s*"([^"]+)"/.exec(readFileSync(description, 'utf8'))?.[1] ?? 'unknown'
}

/**
 * A copy for all clones on this machine whose folders the account may not enter, such as those below /root. Made under
 * another name and renamed, so that two processes may do it at once.
 */
function sharedCopy(source: string, version: string): string {
  const copy = join(SHARED_PLACE, `programs-${version}`)
  if (existsSync(copy)) return copy
  mkdirSync(SHARED_PLACE, { recursive: true, mode: 0o755 })
  const draft = `${copy}.new-${process.pid}`
  rmSync(draft, { recursive: true, force: true })
  copyFolder(source, draft)
  try {
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw error
  }
  return copy
}

/** Not cpSync: under Bun 1.4.5 it leaves out symbolic links, and the programs find their libraries by them. */
function copyFolder(source: string, target: string): void {
  mkdirSync(target, { mode: 0o755 })
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)]
    if (entry.isDirectory()) copyFolder(from, to)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
    else copyFileSync(from, to)
  }
}
