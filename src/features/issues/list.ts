import { and, type SQL } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, type SortKey } from '../../../db/keyset.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { issues } from '../../../db/schema/issues.ts'
import type { VersionedIssue } from '../../access/issues.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'

const newestFirst: SortKey[] = [{ key: issues.number, type: 'bigint', isDescending: true }]

/** Newest first. Numbers rise with creation, so the unique index on them gives the order. */
export async function listIssues(db: Db, matching: SQL | undefined, page: Page): Promise<Paged<VersionedIssue>> {
  const found = db
    .select({ issue: issues, version: rowVersion(issues) })
    .from(issues)
    .where(and(matching, afterPosition(newestFirst, page.after)))
    .orderBy(inOrder(newestFirst))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([found, db.$count(issues, matching)])
  return cutPage(page, { rows, total }, ({ issue }) => [String(issue.number)])
}
