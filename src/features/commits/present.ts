import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { LoggedCommit } from '../../git/model.ts'
import { viewerOf } from '../../http/viewer.ts'
import { type Commit, type CommitView, presentCommit } from '../../wire/commit.ts'
import { findAccountsByEmail, type People } from './people.ts'
import { findVerdicts, type Verdicts } from './verdicts.ts'

export type CommitParts = Pick<CommitView, 'withStats' | 'withFiles' | 'withVerification'>

/** Wire: everything is in the answer unless the query says otherwise. */
export const partsOf = (query: { stat?: boolean; files?: boolean; verification?: boolean }): CommitParts => ({
  withStats: query.stat ?? true,
  withFiles: query.files ?? true,
  withVerification: query.verification ?? true,
})

export const needsChanges = ({ withStats, withFiles }: CommitParts): boolean => withStats || withFiles

/** What answers about commits depend on beside the commits. */
export interface Surroundings extends People {
  verdicts: Verdicts
}

/** The accounts of authors and committers and what is known of the signatures, for all commits at once. */
export async function findPeople(
  context: Context,
  actor: Actor | undefined,
  commits: readonly LoggedCommit[],
): Promise<Surroundings> {
  const addresses = commits.flatMap(({ author, committer }) => [author.email, committer.email])
  const [people, verdicts] = await Promise.all([
    findAccountsByEmail(context, actor, addresses),
    findVerdicts(context, actor, commits),
  ])
  const reasons = [...verdicts].map(([sha, verdict]) => `${sha} ${JSON.stringify(verdict)}`)
  return { ...people, verdicts, version: [people.version, ...reasons].join(' ') }
}

export function presentCommits(
  context: Context,
  { actor, repo, people }: { actor: Actor | undefined; repo: RepositoryAccess; people: Surroundings },
  { commits, parts }: { commits: readonly LoggedCommit[]; parts: CommitParts },
): Commit[] {
  const view = { ...parts, viewer: viewerOf(context, actor), accounts: people.accounts }
  return commits.map((commit) => presentCommit({ ...commit, verdict: people.verdicts.get(commit.sha) }, repo, view))
}
