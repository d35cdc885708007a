import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import { enqueueJob } from '../../jobs/enqueue.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'

/** Asks for everything about a repository that is read from its content. However many pushes came, one waits at most. */
export function enqueueRefresh(tx: Db, repositoryId: number): Promise<void> {
  const name = `repository.refresh:${repositoryId}`
  return enqueueJob(tx, 'repository.refresh', { repositoryId }, { key: name, priority: 5 })
}

export const refreshHandlers: Pick<JobHandlers, 'repository.refresh'> = {
  'repository.refresh': (context, { repositoryId }, { signal }) => refreshRepository(context, repositoryId, signal),
}

/** Measures a repository anew: its size. Does nothing when it is gone. */
export async function refreshRepository(context: Context, repositoryId: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  try {
    const { bytes } = await context.git.sizeOnDisk(repositoryId)
    await context.db.update(repositories).set({ sizeBytes: bytes }).where(eq(repositories.id, repositoryId))
  } catch (error) {
    if (!isGitError(error, 'not-found')) throw error
    // Deleted meanwhile: then there is nothing to measure.
  }
}
