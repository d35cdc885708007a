import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import type { LoggedCommit } from '../../git/model.ts'
import { getRevision } from './revision.ts'

/** Commits told of a comparison; all of them are counted. */
const MAX_COMPARED = 250

export interface Comparison {
  base: string
  head: string
  total: number
  read(withChanges: boolean): Promise<LoggedCommit[]>
}

/**
 * What the head has and the base has not. Wire: `base...head` and `base..head` mean the same, and a name alone is compared with
 * the default branch.
 * @throws Refusal 404 for an unknown side
 */
export async function compare(
  context: Context,
  repo: RepositoryAccess,
  { pair, signal }: { pair: string; signal: AbortSignal },
): Promise<Comparison> {
  const [, left, right] = /^(.*?)\.{2,3}(.*)$/.exec(pair) ?? [undefined, undefined, pair]
  const [{ commit: base }, { commit: head }] = await Promise.all([
    getRevision(context, repo, left || undefined),
    getRevision(context, repo, right || undefined),
  ])
  const { git } = context
  const { id } = repo.repository
  const range = { revision: head.sha, not: [base.sha] }
  const total = await git.countCommits(id, range, { signal })
  const read = (withChanges: boolean) => git.log(id, { ...range, limit: MAX_COMPARED, withChanges }, { signal })
  return { base: base.sha, head: head.sha, total, read }
}
