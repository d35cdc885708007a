import type { Git } from '../../git/engine.ts'
import { isGitError } from '../../git/errors.ts'
import type { Call, FilesCommit, FilesCommitted } from '../../git/model.ts'
import { createKeyedMutex } from '../../kernel/keyed-mutex.ts'

/** Other replicas and pushes may move the branch; each try is judged anew on what is there then. */
const MAX_TRIES = 5

/** By folder. Commits to one wait for each other here, where they hold no process and no connection. */
export const commitMutex = createKeyedMutex<number>()

/** Makes a commit, and makes it again where another one came in between. Throws as `Git.commitFiles`. */
export async function commitPatiently(
  git: Git,
  folderId: number,
  prepare: () => FilesCommit | Promise<FilesCommit>,
  call?: Call,
): Promise<FilesCommitted> {
  for (let tries = 1; ; tries += 1) {
    const commit = await prepare()
    try {
      return await git.commitFiles(folderId, commit, call)
    } catch (error) {
      if (tries === MAX_TRIES || !hasMoved(error, commit)) throw error
    }
  }
}

/** Where a repository had no branch, the one that another has made is there already. */
const hasMoved = (error: unknown, { newBranch }: FilesCommit): boolean =>
  isGitError(error) && (error.code === 'head-moved' || (error.code === 'branch-exists' && newBranch === undefined))
