import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Db, prepared } from '../../db/client.ts'
import { rowVersion } from '../../db/row-version.ts'
import { type IssueRow, issues } from '../../db/schema/issues.ts'
import type { RepositoryRights } from './decide.ts'
import { Level, type Unit } from './units.ts'

/** Issues and pull requests share a table, numbers and routes. What one is decides which unit of the repository guards it. */
export const unitOf = ({ isPull }: { isPull: boolean }): Unit => (isPull ? 'repo.pulls' : 'repo.issues')

/** Of what concerns both kinds: whoever may read one of them passes. */
export const issueUnits = ['repo.issues', 'repo.pulls'] as const satisfies readonly Unit[]

export const mayRead = (rights: RepositoryRights, issue: { isPull: boolean }): boolean =>
  rights.level(unitOf(issue)) >= Level.read

/** Leaves out of a list over `issues` the kind that the reader may not read. Undefined: both may be read. */
export function readableKinds(rights: RepositoryRights): SQL | undefined {
  const [seesIssues, seesPulls] = [mayRead(rights, { isPull: false }), mayRead(rights, { isPull: true })]
  if (seesIssues && seesPulls) return undefined
  if (!seesIssues && !seesPulls) return sql`false`
  return eq(issues.isPull, seesPulls)
}

/** A row with the version that its ETag is made of. */
export interface VersionedIssue {
  issue: IssueRow
  version: string
}

const byNumber = prepared((db) =>
  db
    .select({ issue: issues, version: rowVersion(issues) })
    .from(issues)
    .where(and(eq(issues.repositoryId, sql.placeholder('repositoryId')), eq(issues.number, sql.placeholder('number'))))
    .prepare('issue_by_number'),
)

/** @param index as it stands in a path; undefined also for what is no number */
export async function findIssue(db: Db, repositoryId: number, index: string): Promise<VersionedIssue | undefined> {
  if (!/^\d{1,9}$/.test(index)) return undefined
  const [found] = await byNumber(db).execute({ repositoryId, number: Number(index) })
  return found
}
