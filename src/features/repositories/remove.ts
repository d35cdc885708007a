import { eq } from 'drizzle-orm'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { enqueueJob } from '../../jobs/enqueue.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { notFound } from '../../kernel/errors.ts'
import { auditSubjectOf, payloadOf, subjectOf } from './subject.ts'

/**
 * Deletes a repository: for everybody at once, its folder soon after by a job of the same transaction.
 * @throws Refusal 404 when somebody else was quicker
 */
export async function deleteRepository(
  context: Context,
  actor: Actor,
  { repository, owner }: { repository: RepositoryRow; owner: UserRow },
): Promise<void> {
  const { id } = repository
  await context.db.transaction(async (tx) => {
    // What was forked from it stands for itself from now on.
    await tx.update(repositories).set({ isFork: false, parentId: null }).where(eq(repositories.parentId, id))
    const gone = await tx.delete(repositories).where(eq(repositories.id, id)).returning({ id: repositories.id })
    if (gone.length === 0) throw notFound()
    await enqueueJob(tx, 'repository.remove_folder', { repositoryId: id })
    const before = { isPrivate: repository.isPrivate }
    await recordAudit(tx, actor, { action: 'repository.delete', subject: auditSubjectOf(repository, owner), before })
    await appendEvent(tx, {
      ...subjectOf(repository, actor),
      kind: 'repository.deleted',
      payload: payloadOf(repository, owner),
    })
  })
}

export const removalHandlers: Pick<JobHandlers, 'repository.remove_folder'> = {
  async 'repository.remove_folder'({ git }, { repositoryId }) {
    await git.removeRepository(repositoryId)
  },
}
