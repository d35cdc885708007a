import type { Db } from '../../../db/client.ts'
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
import { type LoadedIssue, loadIssues } from './load.ts'

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
  return presentLoaded(context, actor, await loadElsewhere(context.db, rows))
}

export type LoadedElsewhere = LoadedIssue & IssueElsewhere

/** In the order of the rows. */
export async function loadElsewhere(db: Db, rows: readonly IssueElsewhere[]): Promise<LoadedElsewhere[]> {
  const loaded = await loadIssues(db, rows)
  const repositoryById = new Map(rows.map(({ repository }) => [repository.id, repository]))
  return loaded.flatMap((one) => {
    const repository = repositoryById.get(one.issue.repositoryId)
    return repository ? [{ ...one, repository }] : []
  })
}

export function presentLoaded(context: Context, actor: Actor | undefined, loaded: readonly LoadedElsewhere[]): Issue[] {
  const viewer = viewerOf(context, actor)
  return loaded.map((one) => presentIssue(one, placeOf(context, one.repository), viewer))
}

function placeOf({ baseUrl }: Context, repository: IssueElsewhere['repository']) {
  const fullName = `${repository.ownerName}/${repository.name}`
  return { ...repository, ...addressesOf(baseUrl, fullName) }
}
