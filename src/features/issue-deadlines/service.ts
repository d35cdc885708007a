import type { IssueRow } from '../../../db/schema/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { deadlineHistory, givenDeadline } from '../issues/deadline.ts'
import { recordHistory } from '../issues/history.ts'
import { lockIssue, updateIssue } from '../issues/store.ts'
import type { EditDeadlineOption } from './schema.ts'

/**
 * Sets the day until which an issue is to be done. Wire: without a day it has none from now on.
 * @returns the end of the day
 * @throws Refusal 404 when the issue is gone, 422 for a day that does not exist
 */
export function setDeadline(
  { db, clock }: Context,
  { actor, repo, issue }: { actor: Actor; repo: RepositoryAccess; issue: IssueRow },
  option: EditDeadlineOption,
): Promise<Date | null> {
  const dueAt = givenDeadline(option.due_date) ?? null
  return db.transaction(async (tx) => {
    const before = await lockIssue(tx, repo.repository.id, issue.number)
    if (!before) throw notFound()
    const history = deadlineHistory(before.dueAt, dueAt)
    if (history.length === 0) return dueAt
    await updateIssue(tx, before.id, { dueAt, updatedAt: clock.now() })
    await recordHistory(tx, { issueId: before.id, posterId: actor.user.id }, history)
    return dueAt
  })
}
