import type { Db } from '../../../db/client.ts'
import type { IssueRow } from '../../../db/schema/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { recordHistory } from '../issues/history.ts'
import { lockIssue, updateIssue } from '../issues/store.ts'
import { lockRepository } from '../refs/store.ts'
import { listPinned, MAX_PINS, renumberPins } from './store.ts'

export interface Subject {
  actor: Actor
  repo: RepositoryAccess
  issue: IssueRow
}

/**
 * Pins an issue behind those that are pinned.
 * @throws Refusal 404 when it is gone, 409 when it is pinned already and when there are three
 */
export function pinIssue(context: Context, subject: Subject): Promise<void> {
  return changePins(context, subject, async (tx, { issue, pinned }) => {
    if (issue.pinOrder > 0) throw conflict('the issue is pinned already')
    if (pinned.length >= MAX_PINS) throw conflict(`at most ${MAX_PINS} of a repository are pinned`)
    const last = pinned.at(-1)?.pinOrder ?? 0
    await updateIssue(tx, issue.id, { pinOrder: last + 1, updatedAt: context.clock.now() })
    await recordHistory(tx, { issueId: issue.id, posterId: subject.actor.user.id }, [{ kind: 'pin' }])
  })
}

/** Takes the pin off, if there is one. Wire: the others keep their numbers. @throws Refusal 404 when the issue is gone */
export function unpinIssue(context: Context, subject: Subject): Promise<void> {
  return changePins(context, subject, async (tx, { issue }) => {
    if (issue.pinOrder === 0) return
    await updateIssue(tx, issue.id, { pinOrder: 0, updatedAt: context.clock.now() })
    await recordHistory(tx, { issueId: issue.id, posterId: subject.actor.user.id }, [{ kind: 'unpin' }])
  })
}

/**
 * Moves a pin to a position from 1, at most to the end, and numbers all of them anew.
 * @throws Refusal 404 when the issue is gone or not pinned, 422 for what is no position
 */
export async function movePin(context: Context, subject: Subject, text: string): Promise<void> {
  const position = parseId(text)
  if (position === undefined) throw invalid('must be a number from 1', 'position')
  await changePins(context, subject, async (tx, { issue, pinned }) => {
    if (issue.pinOrder === 0) throw notFound('the issue is not pinned')
    const order = pinned.map(({ id }) => id).filter((id) => id !== issue.id)
    order.splice(position - 1, 0, issue.id)
    await renumberPins(tx, order)
  })
}

/** One change of a repository's pins follows the other, so that no two together exceed what is allowed. */
function changePins(
  context: Context,
  { repo, issue: shown }: Subject,
  apply: (tx: Db, found: { issue: IssueRow; pinned: IssueRow[] }) => Promise<void>,
): Promise<void> {
  return context.db.transaction(async (tx) => {
    if (!(await lockRepository(tx, repo.repository.id))) throw notFound()
    const issue = await lockIssue(tx, repo.repository.id, shown.number)
    if (!issue) throw notFound()
    const pinned = await listPinned(tx, issue)
    await apply(tx, { issue, pinned: pinned.map((one) => one.issue) })
  })
}
