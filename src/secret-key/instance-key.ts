import type { Db } from '../../db/client.ts'
import { createSecrets, type Secrets } from '../auth/secrets.ts'
import { ConfigError } from '../config.ts'
import { programName } from '../kernel/program-name.ts'
import {
  type KeyConfig,
  keyFile,
  makeKey,
  previousSourceOf,
  readKey,
  readPreviousKey,
  sourceOf,
} from './key-sources.ts'
import { recordedFingerprint, recordFirst } from './recorded.ts'
import { countSealed } from './sealed-values.ts'

/**
 * The secrets of the instance, sealed with SECRET_KEY or with the key in `secret.key` below DATA_DIR. The first start makes that file,
 * and records a fingerprint of the key in the database. Either key may be the one of the database, so that replicas can be given
 * another one by turns.
 * @throws ConfigError when the database was begun with another key
 */
export async function openSecrets(db: Db, config: KeyConfig): Promise<Secrets> {
  const recorded = await recordedFingerprint(db)
  const key = readKey(config) ?? (recorded === undefined ? makeKey(config) : undefined)
  if (key === undefined) throw otherKey(config, `${keyFile(config)} does not exist, and SECRET_KEY is not set`)
  const secrets = createSecrets(key, readPreviousKey(config))
  const fingerprint = recorded ?? (await recordUnlessOther(db, config, secrets))
  if (fingerprint === secrets.fingerprint || fingerprint === secrets.previousFingerprint) return secrets
  const previous = secrets.previousFingerprint === undefined ? '' : `, and so is the one in ${previousSourceOf(config)}`
  throw otherKey(config, `the key in ${sourceOf(config)} is another one than this database was set up with${previous}`)
}

/**
 * The secrets of a key that the database does not know yet, made if it is missing.
 * @throws ConfigError when it is the key of the database, or that one is at hand
 */
export async function loadNewSecrets(db: Db, config: KeyConfig): Promise<Secrets> {
  const secrets = createSecrets(readKey(config) ?? makeKey(config), readPreviousKey(config))
  const recorded = await recordedFingerprint(db)
  if (recorded === secrets.fingerprint)
    throw new ConfigError(`${sourceOf(config)} holds the key of this database: there is nothing to adopt`)
  if (recorded !== undefined && recorded === secrets.previousFingerprint)
    throw new ConfigError(
      `${previousSourceOf(config)} holds the key of this database: nothing has to be given up`,
      `run "${programName} secret rotate"`,
    )
  return secrets
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

/** A database of before there were fingerprints may hold secrets already. @returns what is recorded then */
async function recordUnlessOther(db: Db, config: KeyConfig, secrets: Secrets): Promise<string | undefined> {
  const { sealed, unreadable } = await countSealed(db, secrets)
  if (sealed > 0 && unreadable === sealed)
    throw otherKey(config, `the key in ${sourceOf(config)} opens none of the secrets in this database`)
  return recordFirst(db, secrets.fingerprint)
}
