import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomHex } from './hashing.ts'
import { errorCode } from './thrown.ts'

/** A file of secrets: what it holds, or what `make` gives when it is not there yet. Only its owner may read what is made. */
export function madeOnce(path: string, make: () => string): string {
  const known = readIfThere(path)
  if (known !== undefined) return known
  mkdirSync(dirname(path), { recursive: true })
  // Written aside and linked: whoever comes second finds the whole content of the first.
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
