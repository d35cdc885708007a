import { LRUCache } from 'lru-cache'
import type { Db } from './client.ts'

export interface Versioned<Row> {
  row: Row
  /** Of the row as it lies in the database: no two states of a row ever have the same. */
  version: string
}

/** As many rows as some megabytes hold. */
const MAX_ROWS = 4000

/**
 * Rows that were read before, by id and version. Who needs rows first reads which ones, in which version, and then only those that
 * are not here: without it a page of fifty repositories takes a quarter more of the processor. Never stale, since the version is read each time.
 * Readers share them, so they are frozen.
 */
export class KeptRows<Row extends { id: number }> {
  readonly #rows = new LRUCache<number, Versioned<Row>>({ max: MAX_ROWS })

  get(id: number, version: string): Versioned<Row> | undefined {
    const kept = this.#rows.get(id)
    return kept?.version === version ? kept : undefined
  }

  keep(read: Versioned<Row>): void {
    Object.freeze(read.row)
    this.#rows.set(read.row.id, read)
  }
}

/** One for each pool; a transaction has its own, which ends with it. */
export function keptBy<Row extends { id: number }>(): (db: Db) => KeptRows<Row> {
  const byHandle = new WeakMap<Db, KeptRows<Row>>()
  return (db) => {
    const known = byHandle.get(db)
    if (known) return known
    const made = new KeptRows<Row>()
    byHandle.set(db, made)
    return made
  }
}
