import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { issues } from '../../../db/schema/issues.ts'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { viewerOf } from '../../http/viewer.ts'
import { enqueueJob } from '../../jobs/enqueue.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { notFound } from '../../kernel/errors.ts'
import { presentRepository } from '../../wire/repository.ts'
import { foldersOf } from '../wikis/store.ts'
import { keepAccounts } from './deletion-lock.ts'
import { loadRepository } from './load.ts'
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
  // Hooks are sent this when the rows are gone.
  const last = await loadRepository(context, undefined, id)
  const shown = last && { ...presentRepository(last, viewerOf(context, undefined)) }
  await context.db.transaction(async (tx) => {
    await keepAccounts(tx)
    // Locked first: a fork that is made at this moment waits, and then finds no parent.
    if (!(await lockForRemoval(tx, id))) throw notFound()
    // What was forked from it stands for itself from now on.
    await tx.update(repositories).set({ isFork: false, parentId: null }).where(eq(repositories.parentId, id))
    // Before the milestones and labels that they name, as whoever edits one of them locks them.
    await tx.delete(issues).where(eq(issues.repositoryId, id))
    // Read under the lock, which a wiki that is being made waits for.
    const folders = await foldersOf(tx, id)
    await tx.delete(repositories).where(eq(repositories.id, id))
    for (const folderId of folders) await enqueueJob(tx, 'repository.remove_folder', { repositoryId: folderId })
    const before = { isPrivate: repository.isPrivate }
    await recordAudit(tx, actor, {
      action: 'repository.delete',
      subject: auditSubjectOf({ repository, owner }),
      before,
    })
    await appendEvent(tx, {
      ...subjectOf(repository, actor),
      kind: 'repository.deleted',
      payload: { ...payloadOf(repository, owner), ...(shown && { shown }) },
    })
  })
}

async function lockForRemoval(tx: Db, id: number): Promise<boolean> {
  const rows = await tx.select({ id: repositories.id }).from(repositories).where(eq(repositories.id, id)).for('update')
  return rows.length > 0
}

export const removalHandlers: Pick<JobHandlers, 'repository.remove_folder'> = {
  async 'repository.remove_folder'({ git }, { repositoryId }) {
    await git.removeRepository(repositoryId)
  },
}
