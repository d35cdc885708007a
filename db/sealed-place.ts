import { type SQL, sql } from 'drizzle-orm'

/** Where sealed values lie. Each has a key that is unique and never changes. */
export interface SealedPlace {
  table: string
  /** Keys with their sealed bytes, as columns `key` and `sealed`, in the order of the keys: the next after one of them. */
  next(after: SealedKey | undefined, limit: number): SQL
  /** Stores other bytes, where it still holds those that were read: what somebody wrote meanwhile stays. */
  replace(row: SealedRow, sealed: Uint8Array): SQL
}

export type SealedKey = number | string

export interface SealedRow {
  key: SealedKey
  sealed: Uint8Array
}

/** A column of sealed bytes; null is no value. @param key the name of the primary key */
export function sealedColumn(tableName: string, key: string, columnName: string): SealedPlace {
  const [table, id, column] = [sql.identifier(tableName), sql.identifier(key), sql.identifier(columnName)]
  return {
    table: tableName,
    next: (after, limit) => sql`
      select ${id} as key, ${column} as sealed from ${table}
      where ${column} is not null and ${after === undefined ? sql`true` : sql`${id} > ${after}`} order by ${id} limit ${limit}`,
    replace: ({ key: of, sealed: read }, sealed) =>
      sql`update ${table} set ${column} = ${sealed} where ${id} = ${of} and ${column} = ${read}`,
  }
}
