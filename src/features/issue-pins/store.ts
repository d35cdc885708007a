import { and, asc, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { issues } from '../../../db/schema/issues.ts'
import type { VersionedIssue } from '../../access/issues.ts'

/** Wire: of each kind in a repository. */
export const MAX_PINS = 3

/** Issues and pull requests are pinned apart. */
export interface Board {
  repositoryId: number
  isPull: boolean
}

/** With the number as a literal: only then PostgreSQL sees that the index on the pinned ones serves. */
const isPinned = sql`${issues.pinOrder} > 0`

/** In the order of the pins. */
export const listPinned = (db: Db, { repositoryId, isPull }: Board): Promise<VersionedIssue[]> =>
  db
    .select({ issue: issues, version: rowVersion(issues) })
    .from(issues)
    .where(and(eq(issues.repositoryId, repositoryId), eq(issues.isPull, isPull), isPinned))
    .orderBy(asc(issues.pinOrder))
    .limit(MAX_PINS)

/** Numbers pins from 1. All of them are taken off before, since no two may have one number at any moment. */
export async function renumberPins(tx: Db, ids: readonly number[]): Promise<void> {
  await tx.update(issues).set({ pinOrder: 0 }).where(anyOf(issues.id, ids))
  await tx.execute(sql`
    update ${issues} set pin_order = place.number
    from unnest(${sql.param([...ids])}::bigint[]) with ordinality as place (id, number) where ${issues.id} = place.id`)
}
