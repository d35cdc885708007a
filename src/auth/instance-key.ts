import { join } from 'node:path'
import type { Config } from '../config.ts'
import { randomHex } from '../kernel/hashing.ts'
import { madeOnce } from '../kernel/made-once.ts'

/**
 * The secret that encrypts stored secrets: SECRET_KEY, or the one in `secret.key` below DATA_DIR, made at the first start. Replicas that
 * do not share DATA_DIR need SECRET_KEY.
 */
export function loadInstanceKey({ secretKey, dataDir }: Pick<Config, 'secretKey' | 'dataDir'>): string {
  if (secretKey !== undefined) return secretKey
  const path = join(dataDir, 'secret.key')
  const key = madeOnce(path, () => `${randomHex(32)}\n`).trim()
  if (key.length < 32) throw new Error(`${path} holds no key of at least 32 characters`)
  return key
}
