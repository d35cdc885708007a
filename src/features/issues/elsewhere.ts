import { rowVersion } from '../../../db/row-version.ts'
import { issues } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { VersionedIssue } from '../../access/issues.ts'
import { addressesOf } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { viewerOf } from '../../http/viewer.ts'
import { type Issue, presentIssue } from '../../wire/issue.ts'
import { loadIssues } from './load.ts'

/** An issue in a list over several repositories. */
export interface IssueElsewhere extends VersionedIssue {
  repository: { id: number; name: string; ownerName: string }
}

/** Of `issues` joined with `repositories` and its owner in `users`. */
export const elsewhereColumns = {
  issue: issues,
  version: rowVersion(issues),
  repository: { id: repositories.id, name: repositories.name, ownerName: users.name },
}

/** In the order of the rows; as many statements as `loadIssues` needs. */
export async function presentElsewhere(
  context: Context,
  actor: Actor | undefined,
  rows: readonly IssueElsewhere[],
): Promise<Issue[]> {
  const loaded = await loadIssues(context.db, rows)
  const viewer = viewerOf(context, actor)
  const placeById = new Map(rows.map(({ repository }) => [repository.id, placeOf(context, repository)]))
  return loaded.flatMap((one) => {
    const place = placeById.get(one.issue.repositoryId)
    return place ? [presentIssue(one, place, viewer)] : []
  })
}

function placeOf({ baseUrl }: Context, repository: IssueElsewhere['repository']) {
  const fullName = `${repository.ownerName}/${repository.name}`
  return { ...repository, ...addressesOf(baseUrl, fullName) }
}
