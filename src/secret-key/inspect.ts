import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import type { Secrets } from '../auth/secrets.ts'
import { ConfigError } from '../config.ts'
import { programName } from '../kernel/program-name.ts'
import { openSecrets } from './instance-key.ts'
import { type KeyConfig, previousSourceOf, sourceOf } from './key-sources.ts'
import { recordedFingerprint } from './recorded.ts'
import { countSealed, type SealedCount } from './sealed-values.ts'

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
    const count = await countSealed(db, secrets)
    if (count.unreadable === 0) return { detail: describeKeys(config, { secrets, recorded, count }) }
    const detail = `${count.unreadable} of ${count.sealed} stored secrets cannot be opened with it: they were sealed with another key`
    return { detail, remedy: 'set these second factors and hooks up again' }
  } catch (error) {
    if (error instanceof ConfigError) return { detail: error.fault, remedy: error.remedy ?? '' }
    throw error
  }
}

interface Found {
  secrets: Secrets
  recorded: string
  count: SealedCount
}

function describeKeys(config: KeyConfig, { secrets, recorded, count }: Found): string {
  const { fingerprint, previousFingerprint } = secrets
  const source = sourceOf(config)
  if (previousFingerprint === undefined)
    return `${source} holds the key of this database (fingerprint ${fingerprint}); a copy of it belongs beside the backups`
  const previous = previousSourceOf(config)
  const isRotated = recorded === fingerprint
  const role = isRotated ? 'the key of this database' : 'a key that this database is to be sealed with'
  const next = isRotated && count.previous === 0 ? `${previous} may go` : `run "${programName} secret rotate"`
  return `${source} holds ${role} (fingerprint ${fingerprint}). ${previous} holds the previous one (${previousFingerprint}), which ${count.previous} of ${count.sealed} stored secrets need: ${next}. A copy of both belongs beside the backups`
}
