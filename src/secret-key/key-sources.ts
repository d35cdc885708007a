import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, ConfigError } from '../config.ts'
import { randomHex } from '../kernel/hashing.ts'
import { readOrMakeSecretFile } from '../kernel/secret-file.ts'
import { errorCode } from '../kernel/thrown.ts'

export type KeyConfig = Pick<Config, 'secretKey' | 'secretKeyPrevious' | 'dataDir'>

const MIN_LENGTH = 32

/** The file that holds the key where SECRET_KEY is not set. */
export const keyFile = ({ dataDir }: Pick<KeyConfig, 'dataDir'>): string => join(dataDir, 'secret.key')

/** The file that `secret rotate` keeps the key in that was there before. */
export const previousKeyFile = (config: KeyConfig): string => `${keyFile(config)}.previous`

/** The name of what holds the key: for whoever has to bring another one. */
export const sourceOf = (config: KeyConfig): string => (config.secretKey === undefined ? keyFile(config) : 'SECRET_KEY')

/** The same for the previous key. */
export const previousSourceOf = (config: KeyConfig): string =>
  config.secretKeyPrevious === undefined ? previousKeyFile(config) : 'SECRET_KEY_PREVIOUS'

/** Undefined where SECRET_KEY is not set, and the file is not there. */
export const readKey = (config: KeyConfig): string | undefined => config.secretKey ?? readKeyFile(keyFile(config))

/** The file beside `secret.key` counts only where that one does. */
export const readPreviousKey = (config: KeyConfig): string | undefined =>
  config.secretKeyPrevious ?? (config.secretKey === undefined ? readKeyFile(previousKeyFile(config)) : undefined)

export function makeKey(config: KeyConfig): string {
  const path = keyFile(config)
  return requireLong(readOrMakeSecretFile(path, newKey), path)
}

/**
 * Puts a new key into `secret.key`, and keeps the one that was there as `secret.key.previous`. At every moment both files, where they
 * are there, are whole, and both are on the disk before the new key seals anything. One process at a time may do so.
 */
export function renewKeyFile(config: KeyConfig): void {
  const path = keyFile(config)
  try {
    linkSync(path, previousKeyFile(config))
  } catch (error) {
    // An attempt that was cut short came as far as this.
    if (errorCode(error) !== 'EEXIST') throw error
  }
  const aside = `${path}.${randomHex(8)}`
  writeFileSync(aside, newKey(), { mode: 0o600, flag: 'wx', flush: true })
  renameSync(aside, path)
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

const newKey = (): string => `${randomHex(32)}\n`

const readKeyFile = (path: string): string | undefined =>
  existsSync(path) ? requireLong(readFileSync(path, 'utf8'), path) : undefined

function requireLong(content: string, path: string): string {
  const key = content.trim()
  if (key.length < MIN_LENGTH) throw new ConfigError(`${path} holds no key of at least ${MIN_LENGTH} characters`)
  return key
}
