import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { Commit } from '../../git/model.ts'
import { notFound } from '../../kernel/errors.ts'
import { parseRef, TAGS } from '../refs/names.ts'

/** What a client has named: a branch, a tag, or a commit by anything else. */
export interface Revision {
  kind: 'branch' | 'tag' | 'commit'
  /** Short name of the branch or tag; the whole id of a commit. */
  name: string
  commit: Commit
}

/**
 * A branch wins over a tag, and both over an abbreviated id. Without a name the default branch.
 * @throws Refusal 404 for what names nothing or cannot be a name
 */
export async function getRevision(
  context: Context,
  repo: RepositoryAccess,
  asked: string | undefined,
): Promise<Revision> {
  const found = await findRevision(context, repo, asked)
  if (!found) throw notFound()
  return found
}

/** The same. Wire: for files and notes the refusal names what was looked for. */
export async function getNamedRevision(
  context: Context,
  repo: RepositoryAccess,
  asked: string | undefined,
): Promise<Revision> {
  const found = await findRevision(context, repo, asked)
  if (found) return found
  throw notFound('not found', [`object does not exist [id: ${asked ?? repo.repository.defaultBranch}, rel_path: ]`])
}

async function findRevision(
  { git }: Context,
  { repository }: RepositoryAccess,
  asked: string | undefined,
): Promise<Revision | undefined> {
  const full = parseRef(asked ?? '')
  const name = full?.name ?? asked ?? repository.defaultBranch
  const branch = full?.kind === 'tag' ? undefined : await git.findBranch(repository.id, name)
  if (branch) return { kind: 'branch', name, commit: branch }
  try {
    const tag = full?.kind === 'branch' ? undefined : await git.find(repository.id, TAGS + name)
    if (tag) return { kind: 'tag', name, commit: await git.readCommit(repository.id, TAGS + name) }
    const commit = await git.readCommit(repository.id, asked ?? name)
    return { kind: 'commit', name: commit.sha, commit }
  } catch (error) {
    if (namesNothing(error)) return undefined
    throw error
  }
}

/** Whether Git has said that there is no such revision, that it cannot be one, or that it names no commit. */
export const namesNothing = (error: unknown): boolean =>
  isGitError(error) && ['revision', 'revision-syntax', 'object-type', 'path'].includes(error.code)

/** How the web's addresses name a revision: `branch/main`, `tag/v1`, `commit/<id>`. */
export const webPathOf = ({ kind, name }: Pick<Revision, 'kind' | 'name'>): string => `${kind}/${encodePath(name)}`

/** Each part of a path made fit for an address. */
export const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')
