import { MAX_CHANGED_PATHS } from '../actions/workflows/limits.ts'
import type { Context } from '../context.ts'
import type { StoredEvent } from '../events/catalogue.ts'
import { isGitError } from '../git/errors.ts'

/** What a push has changed; undefined where that is unknown, as with a new branch or too many files. */
export async function changedPaths(
  { git }: Context,
  { repositoryId, payload: { oldSha, newSha } }: StoredEvent<'push'>,
): Promise<string[] | undefined> {
  if (repositoryId === null || /^0+$/.test(oldSha)) return undefined
  try {
    const query = { base: oldSha, head: newSha, limit: MAX_CHANGED_PATHS }
    const { files, isTruncated } = await git.changes(repositoryId, query)
    if (isTruncated) return undefined
    return files.flatMap(({ path, previousPath }) => (previousPath === undefined ? [path] : [path, previousPath]))
  } catch (error) {
    // A forced push leaves the old commit to be cleaned up.
    if (isGitError(error, 'not-found')) return undefined
    throw error
  }
}
