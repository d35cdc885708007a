import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomHex } from './hashing.ts'
import { errorCode } from './thrown.ts'

/** The content of a file of secrets. If there is none, it is made first, readable for its owner alone. */
export function readOrMakeSecretFile(path: string, make: () => string): string {
  const known = readIfThere(path)
  if (known !== undefined) return known
  mkdirSync(dirname(path), { recursive: true })
  // Written under another name and linked: a second process finds the whole content of the first.
  const aside = `${path}.${randomHex(8)}`
  writeFileSync(aside, make(), { mode: 0o600, flag: 'wx', flush: true })
  try {
    linkSync(aside, path)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  } finally {
    rmSync(aside)
  }
  return readFileSync(path, 'utf8')
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
