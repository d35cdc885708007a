import type { Db } from '../../db/client.ts'
import type { SealedPlace, SealedRow } from '../../db/sealed-place.ts'
import type { Secrets } from '../auth/secrets.ts'
import { type PurposePlace, purposePlaces } from './sealed-places.ts'

/** Rows of one statement. */
const BATCH = 500

export interface SealedCount {
  sealed: number
  /** Opened by the previous key alone. */
  previous: number
  unreadable: number
}

/** What the present key and the previous one open of the stored secrets. */
export async function countSealed(db: Db, secrets: Secrets): Promise<SealedCount> {
  const count = { sealed: 0, previous: 0, unreadable: 0 }
  for (const { purpose, place } of purposePlaces)
    for await (const rows of batchesOf(db, place))
      for (const { sealed } of rows) {
        const key = secrets.keyOf(purpose, sealed)
        count.sealed += 1
        if (key !== 'present') count[key ?? 'unreadable'] += 1
      }
  return count
}

export interface Resealed {
  /** Values that were looked at. */
  sealed: number
  resealed: number
  /** Neither key opens these. They stay as they are. */
  unreadable: number
}

/**
 * Seals anew what the previous key has sealed in one place. Each value is a statement of its own, so that nobody waits for more than one
 * row, and what was done before a kill is done. `looked` is told of each batch.
 */
export async function resealPlace(
  db: Db,
  secrets: Secrets,
  { purpose, place }: PurposePlace,
  looked: (count: Resealed) => void,
): Promise<void> {
  for await (const rows of batchesOf(db, place)) {
    const count = { sealed: rows.length, resealed: 0, unreadable: 0 }
    for (const row of rows) {
      const key = secrets.keyOf(purpose, row.sealed)
      if (key === undefined) count.unreadable += 1
      if (key !== 'previous') continue
      const fresh = secrets.seal(purpose, secrets.open(purpose, row.sealed))
      count.resealed += (await db.execute(place.replace(row, fresh))).count
    }
    looked(count)
  }
}

async function* batchesOf(db: Db, place: SealedPlace): AsyncGenerator<SealedRow[]> {
  let after: SealedRow['key'] | undefined
  while (true) {
    const rows = await db.execute<{ key: number | string; sealed: Uint8Array }>(place.next(after, BATCH))
    if (rows.length > 0) yield rows
    if (rows.length < BATCH) return
    after = rows.at(-1)?.key
  }
}
