import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { randomHex } from '../kernel/hashing.ts'

/**
 * The secret that encrypts stored secrets: SECRET_KEY, or the one in `secret.key` below DATA_DIR, made at the first start. Replicas that
 * do not share DATA_DIR need SECRET_KEY.
 */
export function loadInstanceKey({ secretKey, dataDir }: Pick<Config, 'secretKey' | 'dataDir'>): string {
  if (secretKey !== undefined) return secretKey
  const path = join(dataDir, 'secret.key')
  const known = readKey(path)
  if (known !== undefined) return known
  mkdirSync(dataDir, { recursive: true })
  // Written aside and linked: whoever comes second finds the whole key of the first.
  const aside = `${path}.${randomHex(8)}`
  writeFileSync(aside, `${randomHex(32)}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    linkSync(aside, path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    rmSync(aside)
  }
  const made = readKey(path)
  if (made === undefined) throw new Error(`${path} cannot be read`)
  return made
}

function readKey(path: string): string | undefined {
  try {
    const key = readFileSync(path, 'utf8').trim()
    if (key.length < 32) throw new Error(`${path} holds no key of at least 32 characters`)
    return key
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
