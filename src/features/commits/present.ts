import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { LoggedCommit } from '../../git/model.ts'
import { viewerOf } from '../../http/viewer.ts'
import { type Commit, type CommitView, presentCommit } from '../../wire/commit.ts'
import { findAccountsByEmail, type People } from './people.ts'

export type CommitParts = Pick<CommitView, 'withStats' | 'withFiles' | 'withVerification'>

/** Wire: everything is told unless the query says otherwise. */
export const partsOf = (query: { stat?: boolean; files?: boolean; verification?: boolean }): CommitParts => ({
  withStats: query.stat ?? true,
  withFiles: query.files ?? true,
  withVerification: query.verification ?? true,
})

export const needsChanges = ({ withStats, withFiles }: CommitParts): boolean => withStats || withFiles

/** The accounts of authors and committers, for all commits at once. */
export const findPeople = (
  context: Context,
  actor: Actor | undefined,
  commits: readonly LoggedCommit[],
): Promise<People> =>
  findAccountsByEmail(
    context,
    actor,
    commits.flatMap(({ author, committer }) => [author.email, committer.email]),
  )

export function presentCommits(
  context: Context,
  { actor, repo, people }: { actor: Actor | undefined; repo: RepositoryAccess; people: People },
  { commits, parts }: { commits: readonly LoggedCommit[]; parts: CommitParts },
): Commit[] {
  const view = { ...parts, viewer: viewerOf(context, actor), accounts: people.accounts }
  return commits.map((commit) => presentCommit(commit, repo, view))
}
