import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { instance } from '../../db/schema/instance.ts'
import { type Config, ConfigError } from '../config.ts'
import { randomHex } from '../kernel/hashing.ts'
import { programName } from '../kernel/program-name.ts'
import { readOrMakeSecretFile } from '../kernel/secret-file.ts'
import { countSealed } from './sealed-values.ts'
import { createSecrets, type Secrets } from './secrets.ts'

type KeyConfig = Pick<Config, 'secretKey' | 'dataDir'>

const MIN_LENGTH = 32

/** The file that holds the key where SECRET_KEY is not set. */
export const keyFile = ({ dataDir }: KeyConfig): string => join(dataDir, 'secret.key')

/** The name of what holds the key: for whoever has to bring another one. */
const sourceOf = (config: KeyConfig): string => (config.secretKey === undefined ? keyFile(config) : 'SECRET_KEY')

/**
 * The secrets of the instance, sealed with SECRET_KEY or with the key in `secret.key` below DATA_DIR. The first start makes that file,
 * and records a fingerprint of the key in the database.
 * @throws ConfigError when the database was begun with another key
 */
export async function openSecrets(db: Db, config: KeyConfig): Promise<Secrets> {
  const recorded = await recordedFingerprint(db)
  const key = readKey(config) ?? (recorded === undefined ? makeKey(config) : undefined)
  if (key === undefined) throw otherKey(config, `${keyFile(config)} does not exist, and SECRET_KEY is not set`)
  const secrets = createSecrets(key)
  if ((recorded ?? (await record(db, config, secrets))) === secrets.fingerprint) return secrets
  throw otherKey(config, `the key in ${sourceOf(config)} is another one than this database was set up with`)
}

/**
 * The secrets of a key that the database does not know yet, made if it is missing.
 * @throws ConfigError when it is the key of the database
 */
export async function loadNewSecrets(db: Db, config: KeyConfig): Promise<Secrets> {
  const secrets = createSecrets(readKey(config) ?? makeKey(config))
  if ((await recordedFingerprint(db)) === secrets.fingerprint)
    throw new ConfigError(`${sourceOf(config)} holds the key of this database: there is nothing to adopt`)
  return secrets
}

export interface KeyState {
  detail: string
  /** Set where something is wrong. */
  remedy?: string
}

/** For `doctor`: makes no key and records none. */
export async function inspectKey(db: Db, config: KeyConfig): Promise<KeyState> {
  const [table] = await db.execute<{ found: boolean }>(sql`select to_regclass('instance') is not null as found`)
  const recorded = table?.found ? await recordedFingerprint(db) : undefined
  if (recorded === undefined) return { detail: 'the next start records it in the database' }
  try {
    const secrets = await openSecrets(db, config)
    const { sealed, unreadable } = await countSealed(db, secrets)
    const known = `${sourceOf(config)} holds the key of this database (fingerprint ${secrets.fingerprint}); a copy of it belongs beside the backups`
    if (unreadable === 0) return { detail: known }
    const detail = `${unreadable} of ${sealed} stored secrets cannot be opened with it: they were sealed with another key`
    return { detail, remedy: 'set these second factors and hooks up again' }
  } catch (error) {
    if (error instanceof ConfigError) return { detail: error.fault, remedy: error.remedy ?? '' }
    throw error
  }
}

function otherKey(config: KeyConfig, fault: string): ConfigError {
  const remedy = `bring the file secret.key of the first server to ${keyFile(config)}, or set SECRET_KEY to what it holds`
  const bring =
    config.secretKey === undefined ? remedy : 'set SECRET_KEY to what it was, or to the content of the first secret.key'
  return new ConfigError(
    `The secret key is missing or wrong: ${fault}`,
    `${bring}. Where it is lost: "${programName} key adopt --help"`,
  )
}

async function recordedFingerprint(db: Db): Promise<string | undefined> {
  const [row] = await db.select({ fingerprint: instance.keyFingerprint }).from(instance)
  return row?.fingerprint
}

/** Of several replicas that start on an empty database, the first one records its key. @returns what is recorded then */
async function record(db: Db, config: KeyConfig, secrets: Secrets): Promise<string | undefined> {
  // A database of before there were fingerprints may hold secrets already.
  const { sealed, unreadable } = await countSealed(db, secrets)
  if (sealed > 0 && unreadable === sealed)
    throw otherKey(config, `the key in ${sourceOf(config)} opens none of the secrets in this database`)
  await db.insert(instance).values({ keyFingerprint: secrets.fingerprint }).onConflictDoNothing()
  return recordedFingerprint(db)
}

function readKey(config: KeyConfig): string | undefined {
  if (config.secretKey !== undefined) return config.secretKey
  const path = keyFile(config)
  return existsSync(path) ? requireLong(readFileSync(path, 'utf8'), path) : undefined
}

function makeKey(config: KeyConfig): string {
  const path = keyFile(config)
  return requireLong(
    readOrMakeSecretFile(path, () => `${randomHex(32)}\n`),
    path,
  )
}

function requireLong(content: string, path: string): string {
  const key = content.trim()
  if (key.length < MIN_LENGTH) throw new ConfigError(`${path} holds no key of at least ${MIN_LENGTH} characters`)
  return key
}
