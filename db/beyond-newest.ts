import { and, desc, lt, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Db } from './client.ts'

/**
 * A condition for a delete: those of the rows `of` that are older than the newest `keep` of them. `column` is the age, by an id or a
 * time, and belongs to the table that is deleted from.
 */
export function beyondNewest(db: Db, column: PgColumn, { of, keep }: { of: SQL; keep: number }): SQL | undefined {
  const oldestKept = db
    .select({ value: column })
    .from(column.table)
    .where(of)
    .orderBy(desc(column))
    .offset(keep - 1)
    .limit(1)
  return and(of, lt(column, sql`(${oldestKept})`))
}
