import { and, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { issues } from '../../../db/schema/issues.ts'
import type { VersionedIssue } from '../../access/issues.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'

/** Which issues a list has, and in which order. */
export interface IssueFilter {
  /** Over `issues`. */
  condition: SQL | undefined
  /** How well an issue fits what was looked for; absent where nothing was. */
  rank?: SQL<number> | undefined
}

/** What fits best first, and of that the newest: what has the highest number or id. */
export function issueOrder({ rank }: IssueFilter, newest: SortKey['key']): SortKey[] {
  const newestFirst: SortKey = { key: newest, type: 'bigint', isDescending: true }
  return rank ? [{ key: rank, type: 'bigint', isDescending: true }, newestFirst] : [newestFirst]
}

/** The place of a row in such an order, as a column. */
export const placeIn = (keys: readonly SortKey[]): SQL<string[]> =>
  sql<string[]>`array[${sql.join(
    keys.map((key) => sql`${positionText(key)}::text`),
    sql`, `,
  )}]`

/** Of one repository. Numbers rise with creation, so the unique index on them gives the order. */
export async function listIssues(db: Db, filter: IssueFilter, page: Page): Promise<Paged<VersionedIssue>> {
  const order = issueOrder(filter, issues.number)
  const found = db
    .select({ issue: issues, version: rowVersion(issues), place: placeIn(order) })
    .from(issues)
    .where(and(filter.condition, afterPosition(order, page.after)))
    .orderBy(inOrder(order))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([found, db.$count(issues, filter.condition)])
  return cutPage(page, { rows, total }, ({ place }) => place)
}
