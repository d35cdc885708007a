import { LRUCache } from 'lru-cache'
import type { Db } from './client.ts'

export interface Versioned<Row> {
  row: Row
  /** Of the row as it lies in the database (`rowVersion`): no two states of a row ever have the same. */
  version: string
}

/** As many rows as some megabytes hold. */
const MAX_ROWS = 4000

/**
 * Rows that were read before, by id. Whoever needs rows asks the database for their versions first, so that a row from here is never stale.
 * Readers share the rows, which are frozen.
 */
export class CachedRows<Row extends { id: number }> {
  readonly #rows = new LRUCache<number, Versioned<Row>>({ max: MAX_ROWS })

  /** @param read reads those that are missing; one that is gone meanwhile may be left out */
  async through(
    wanted: ReadonlyMap<number, string>,
    read: (ids: number[]) => Promise<Versioned<Row>[]>,
  ): Promise<Map<number, Row>> {
    const found = new Map<number, Row>()
    const missing: number[] = []
    for (const [id, version] of wanted) {
      const cached = this.#rows.get(id)
      if (cached?.version === version) found.set(id, cached.row)
      else missing.push(id)
    }
    for (const { row, version } of missing.length === 0 ? [] : await read(missing)) {
      this.#rows.set(row.id, { row: Object.freeze(row), version })
      found.set(row.id, row)
    }
    return found
  }
}

/** One cache for each pool; a transaction has its own, which ends with it. */
export function cacheOfRows<Row extends { id: number }>(): (db: Db) => CachedRows<Row> {
  const byHandle = new WeakMap<Db, CachedRows<Row>>()
  return (db) => {
    const known = byHandle.get(db)
    if (known) return known
    const made = new CachedRows<Row>()
    byHandle.set(db, made)
    return made
  }
}
