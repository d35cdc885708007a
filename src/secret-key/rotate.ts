import { DrizzleQueryError, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { SECRET_KEY_LOCK } from '../../db/locks.ts'
import { recordAudit } from '../audit/record.ts'
import { createSecrets, type Secrets } from '../auth/secrets.ts'
import { unavailable } from '../kernel/errors.ts'
import { errorCode } from '../kernel/thrown.ts'
import { type KeyConfig, readKey, readPreviousKey, renewKeyFile } from './key-sources.ts'
import { recordedFingerprint, recordInPlaceOf } from './recorded.ts'
import { type PurposePlace, purposePlaces } from './sealed-places.ts'
import { type Resealed, resealPlace } from './sealed-values.ts'

/**
 * Begins a rotation of the key in `secret.key`: that file has a new key then. Nothing is done where SECRET_KEY is set, or a previous key
 * is there already. @returns whether a new key was made
 */
export async function renewKey(db: Db, config: KeyConfig): Promise<boolean> {
  if (config.secretKey !== undefined) return false
  return db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${SECRET_KEY_LOCK})`)
    const present = readKey(config)
    if (present === undefined) return false
    const { fingerprint, previousFingerprint } = createSecrets(present, readPreviousKey(config))
    if (previousFingerprint !== undefined || (await recordedFingerprint(tx)) !== fingerprint) return false
    renewKeyFile(config)
    return true
  })
}

/**
 * Seals anew what the previous key has sealed, beside requests that read and write. May be killed at any time, and run again. At the end
 * nothing that the previous key has sealed is left, nor on its way: what copies rows may have read them before they were sealed anew, so
 * each table is looked through a second time while nobody writes to it.
 * @returns what was found in the second look, with all that was sealed anew
 * @throws Refusal 503 where somebody writes to a table all the time
 */
export async function resealAll(db: Db, secrets: Secrets, progress: (text: string) => void): Promise<Resealed> {
  const total = { sealed: 0, resealed: 0, unreadable: 0 }
  for (const one of purposePlaces)
    await orBusy(
      one,
      resealPlace(db, secrets, one, ({ resealed }) => {
        total.resealed += resealed
        progress(`${one.place.table}: ${total.resealed} values are sealed anew`)
      }),
    )
  for (const one of purposePlaces)
    await orBusy(
      one,
      whileNobodyWrites(db, one, (tx) =>
        resealPlace(tx, secrets, one, (count) => {
          total.sealed += count.sealed
          total.resealed += count.resealed
          total.unreadable += count.unreadable
        }),
      ),
    )
  return total
}

/** Others wait behind the lock of the table, so it is waited for five seconds at most. */
const whileNobodyWrites = (db: Db, { place }: PurposePlace, work: (tx: Db) => Promise<void>): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.execute(sql`set local lock_timeout = '5s'`)
    await tx.execute(sql`lock table ${sql.identifier(place.table)} in share row exclusive mode`)
    await work(tx)
  })

/** The codes of PostgreSQL for a lock, and for a statement, that was waited for too long. */
const WAITED_TOO_LONG = ['55P03', '57014']

async function orBusy({ place }: PurposePlace, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    const code = error instanceof DrizzleQueryError ? errorCode(error.cause) : undefined
    if (code === undefined || !WAITED_TOO_LONG.includes(code)) throw error
    throw unavailable(`something writes to ${place.table} for long: run this again when it has ended`)
  }
}

/** Records that the database is sealed with the present key. False where neither of the two is the recorded one any more. */
export async function recordRotation(db: Db, secrets: Secrets, after: Resealed): Promise<boolean> {
  const { fingerprint, previousFingerprint } = secrets
  return db.transaction(async (tx) => {
    if ((await recordedFingerprint(tx)) === fingerprint) return true
    if (previousFingerprint === undefined || !(await recordInPlaceOf(tx, previousFingerprint, fingerprint)))
      return false
    await recordAudit(tx, 'command line', { action: 'secret_key.rotate', subject: { kind: 'site' }, after })
    return true
  })
}
