import { eq, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { comments, issues } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { SiteRules } from '../../access/decide.ts'
import { visibleSubject } from '../../access/visible-subject.ts'
import type { Actor } from '../../auth/actor.ts'
import type { ShownEntry } from '../../wire/timeline.ts'
import { elsewhereColumns, type LoadedElsewhere, loadElsewhere } from '../issues/elsewhere.ts'

/** Whether the reader may see the other issue of a dependency, as a condition over `comments`. */
export const isDependencyVisible = (site: SiteRules, actor: Actor | undefined): SQL => sql`exists (
  select from ${issues} join ${repositories} on ${repositories.id} = ${issues.repositoryId}
  join ${users} on ${users.id} = ${repositories.ownerId}
  where ${issues.id} = ${comments.dependentIssueId} and ${visibleSubject(site, actor, issues.isPull)})`

/** The issues of dependencies, and the own one where time was booked. That they may be seen was found out with the entries. */
export async function loadShownIssues(db: Db, entries: readonly ShownEntry[]): Promise<LoadedElsewhere[]> {
  const ids = entries.flatMap(({ entry, trackedTime }) => [entry.dependentIssueId, trackedTime && entry.issueId])
  const wanted = [...new Set(ids.filter((id) => typeof id === 'number'))]
  if (wanted.length === 0) return []
  const rows = await db
    .select(elsewhereColumns)
    .from(issues)
    .innerJoin(repositories, eq(repositories.id, issues.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(anyOf(issues.id, wanted))
  return loadElsewhere(db, rows)
}
