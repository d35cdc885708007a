import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RepositoryRow, repositories, repositoryLanguages } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import { enqueueJob } from '../../jobs/enqueue.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { updateSize } from '../repositories/store.ts'
import { foldersOf } from '../wikis/store.ts'
import { type Content, readContent } from './content.ts'
import { BRANCHES } from './names.ts'
import { loadRows, lockRepository } from './store.ts'

/** Asks for everything about a repository that is read from its content. However many pushes came, one waits at most. */
export function enqueueRefresh(tx: Db, repositoryId: number): Promise<void> {
  const key = `repository.refresh:${repositoryId}`
  return enqueueJob(tx, 'repository.refresh', { repositoryId }, { key, priority: 5 })
}

export const refreshHandlers: Pick<JobHandlers, 'repository.refresh'> = {
  'repository.refresh': (context, { repositoryId }, { signal }) => refreshRepository(context, repositoryId, signal),
}

/** Bytes of the code and of the wiki. */
export async function measureFolders({ db, git }: Pick<Context, 'db' | 'git'>, repositoryId: number): Promise<number> {
  let bytes = 0
  for (const folderId of await foldersOf(db, repositoryId)) bytes += (await git.sizeOnDisk(folderId)).bytes
  return bytes
}

/**
 * Measures a repository anew: its size, its languages and licenses as the default branch has them. Does nothing when it is gone,
 * and leaves languages to the next run when the branch has moved meanwhile: that move has enqueued one.
 */
export async function refreshRepository(context: Context, repositoryId: number, signal: AbortSignal): Promise<void> {
  const { db, git } = context
  try {
    const [repository] = await db.select().from(repositories).where(eq(repositories.id, repositoryId))
    if (!repository) return
    for (const folderId of await foldersOf(db, repositoryId)) await git.maintainIfNeeded(folderId, { signal })
    await updateSize(db, repositoryId, await measureFolders(context, repositoryId))
    const commit = await tipOfDefault(db, repository)
    if (commit === undefined) return
    const content = await readContent(git, { repositoryId, commit, signal })
    await db.transaction((tx) => writeContent(tx, repositoryId, { commit, content }))
  } catch (error) {
    if (!isGitError(error, 'not-found')) throw error
    // Deleted meanwhile: then there is nothing to measure.
  }
}

async function tipOfDefault(db: Db, { id, defaultBranch }: RepositoryRow): Promise<string | undefined> {
  const ref = BRANCHES + defaultBranch
  return (await loadRows(db, id, [ref])).get(ref)
}

async function writeContent(
  tx: Db,
  id: number,
  { commit, content }: { commit: string; content: Content },
): Promise<void> {
  const repository = await lockRepository(tx, id)
  if (!repository || (await tipOfDefault(tx, repository)) !== commit) return
  const rows = Object.entries(content.languages).map(([language, bytes]) => ({ repositoryId: id, language, bytes }))
  await tx.delete(repositoryLanguages).where(eq(repositoryLanguages.repositoryId, id))
  if (rows.length > 0) await tx.insert(repositoryLanguages).values(rows)
  const language = rows[0]?.language ?? ''
  await tx.update(repositories).set({ language, licenses: content.licenses }).where(eq(repositories.id, id))
}
