import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import type { Commit, LoggedCommit, LogQuery } from '../../git/model.ts'
import { isObjectId, revisionCandidates } from '../../git/names.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import type { Page } from '../../kernel/page.ts'
import { getNamedRevision, getRevision, namesNothing, type Revision } from './revision.ts'

export interface CommitFilter {
  revision: string | undefined
  path: string | undefined
  not: string | undefined
  since: Date | undefined
  until: Date | undefined
}

export interface CommitList {
  total: number
  /** Reads the page; asked again when the first answer left the changes out. */
  read(withChanges: boolean): Promise<LoggedCommit[]>
}

/**
 * Commits from the newest on.
 * @throws Refusal 404 for a revision that does not exist and for a path that no commit has touched, 409 in an empty repository
 */
export async function listCommits(
  context: Context,
  repo: RepositoryAccess,
  { filter, page, signal }: { filter: CommitFilter; page: Page; signal: AbortSignal },
): Promise<CommitList> {
  const { git } = context
  const { id, isEmpty } = repo.repository
  if (isEmpty) throw conflict('Git Repository is empty.')
  const { commit } = await getRevision(context, repo, filter.revision)
  const path = readPath(filter.path)
  const query: LogQuery = {
    revision: commit.sha,
    not: filter.not === undefined ? [] : [filter.not],
    path,
    since: filter.since,
    until: filter.until,
    skip: page.offset,
    limit: page.limit,
  }
  const call = { signal }
  const total = await orNotFound(git.countCommits(id, query, call))
  if (total === 0 && path !== undefined) throw notFound('FileCommitsCount')
  const isBeyond = page.offset >= total
  return { total, read: async (withChanges) => (isBeyond ? [] : git.log(id, { ...query, withChanges }, call)) }
}

/** @throws Refusal 404 for a path that no commit can have; Git would take it for one outside of the repository. */
function readPath(text = ''): string | undefined {
  const path = text.replace(/^\/+|\/+$/g, '')
  if (path === '') return undefined
  if (path.includes('\0') || path.split('/').some((part) => ['', '.', '..'].includes(part))) throw notFound()
  return path
}

/** @throws Refusal 404, 422 for a text that can be no revision */
export async function getCommit(context: Context, repo: RepositoryAccess, sha: string): Promise<Revision> {
  requireRevision(sha)
  return getRevision(context, repo, sha)
}

/** The same. Wire: the refusal names what was looked for, unless it is a whole id. */
export async function getNamedCommit(context: Context, repo: RepositoryAccess, sha: string): Promise<Commit> {
  requireRevision(sha)
  const { commit } = await (isObjectId(sha) ? getRevision : getNamedRevision)(context, repo, sha)
  return commit
}

function requireRevision(sha: string): void {
  if (!revisionCandidates(sha)) throw invalid(`no valid ref or sha: ${sha}`)
}

/** @throws Refusal 404 where Git knows nothing of that name */
export async function orNotFound<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (namesNothing(error)) throw notFound()
    throw error
  }
}
