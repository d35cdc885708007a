import type { IssueRow } from '../../../db/schema/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { recordHistory } from '../issues/history.ts'
import { lockIssue, updateIssue } from '../issues/store.ts'

/**
 * Locks the conversation of an issue for all but writers, or unlocks it. Wire: a conversation that is locked keeps its reason when it is
 * locked again.
 * @throws Refusal 404 when the issue is gone
 */
export function setLock(
  { db, clock }: Context,
  { actor, repo, issue }: { actor: Actor; repo: RepositoryAccess; issue: IssueRow },
  wish: { isLocked: boolean; reason: string },
): Promise<void> {
  return db.transaction(async (tx) => {
    const before = await lockIssue(tx, repo.repository.id, issue.number)
    if (!before) throw notFound()
    const { isLocked, reason } = wish
    if (before.isLocked === isLocked) return
    await updateIssue(tx, before.id, { isLocked, lockReason: reason, updatedAt: clock.now() })
    const doer = { issueId: before.id, posterId: actor.user.id }
    await recordHistory(tx, doer, [isLocked ? { kind: 'lock', body: reason } : { kind: 'unlock' }])
  })
}
