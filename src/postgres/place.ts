import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomHex } from '../kernel/hashing.ts'
import { type Account, canEnter } from './account.ts'

/** Where root keeps what PostgreSQL's user must reach when the clone itself is closed to others (mode 0700). */
export const SHARED_PLACE = '/var/lib/hearth'

/**
 * The folder of the database server that belongs to a data folder: `postgres` inside it, or, where the account may
 * not enter that, a folder below SHARED_PLACE whose name is written in `postgres.place` inside it.
 */
export function databaseFolder(dataDir: string, account: Account | undefined): string {
  // The account may pass through DATA_DIR but not list it; what is private inside is closed on its own.
  mkdirSync(dataDir, { recursive: true, mode: account === undefined ? 0o700 : 0o711 })
  const home = realpathSync(dataDir)
  const inside = join(home, 'postgres')
  const note = join(home, 'postgres.place')
  if (existsSync(inside) || (!existsSync(note) && canEnter(account, home))) return inside
  return placeElsewhere(home, note)
}

function placeElsewhere(home: string, note: string): string {
  mkdirSync(SHARED_PLACE, { recursive: true, mode: 0o755 })
  try {
    writeFileSync(note, `${join(SHARED_PLACE, randomHex(8))}\n${home}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    // Another process, or an earlier start, has chosen already.
    if (!existsSync(note)) throw error
  }
  const [folder = '', owner] = readFileSync(note, 'utf8').split('\n')
  if (owner !== home)
    throw new Error(
      `${note} says that the database in ${folder} belongs to ${owner}. If the folder was moved, write its new path into the second line; if it was copied, remove the file to start with an empty database`,
    )
  mkdirSync(dirname(folder), { recursive: true, mode: 0o755 })
  return folder
}
