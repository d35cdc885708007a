import type { Db } from '../../../db/client.ts'
import type { IssueRow } from '../../../db/schema/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { cutToBytes } from '../../kernel/cut.ts'
import { badRequest, conflict, forbidden, notFound, preconditionFailed } from '../../kernel/errors.ts'
import { hasOpenDependency } from '../issue-dependencies/store.ts'
import { assigneeHistory, rowHistory } from './changes.ts'
import { givenDeadline } from './deadline.ts'
import { recordHistory } from './history.ts'
import type { EditIssueOption } from './schema.ts'
import { mayPlan, readAssignees, readMilestone, recordStateChange } from './service.ts'
import { lockIssue, readFacts, replaceAssignees, updateIssue } from './store.ts'

const MAX_TITLE_BYTES = 255

export interface Doer {
  actor: Actor
  repo: RepositoryAccess
}

/**
 * Changes an issue: its author may change text and state, who has write on issues everything.
 * @throws Refusal 400 for a deadline that is neither given nor unset, 403 for others, 404 when it is gone, 409 when `content_version` is not
 * the newest, 412 for an unknown state and when it is closed before what it waits for, 422 for an unknown
 * assignee or milestone
 */
export async function editIssue(
  context: Context,
  doer: Doer,
  { issue: shown, option }: { issue: IssueRow; option: EditIssueOption },
): Promise<IssueRow> {
  const { actor, repo } = doer
  const mayPlanIt = mayPlan(repo, shown)
  if (shown.posterId !== actor.user.id && !mayPlanIt)
    throw forbidden('only the author and those with write access to issues may change it')
  requireKnownState(option)
  const plan = mayPlanIt ? await readPlanChange(context.db, repo, option) : {}
  const assignees = mayPlanIt ? await readAssigneeChange(context.db, repo, option) : undefined
  return context.db.transaction(async (tx) => {
    const before = await lockIssue(tx, repo.repository.id, shown.number)
    if (!before) throw notFound()
    const text = readTextChange(before, option)
    const state = readStateChange(context, before, option)
    if (state.isClosed) await requireClosable(tx, repo, before)
    const after = await updateIssue(tx, before.id, { ...plan, ...text, ...state, updatedAt: context.clock.now() })
    await recordHistory(tx, historyDoer(doer, after), rowHistory(before, after))
    if (assignees) await assign(tx, doer, { issue: after, assignees })
    if (after.isClosed !== before.isClosed) await recordStateChange(tx, placeOf(doer), { issue: after })
    if (text.title !== undefined) {
      const oldTitle = before.title === after.title ? undefined : before.title
      const oldBody = before.body === after.body ? undefined : before.body
      await recordEdit(tx, doer, { after, oldTitle, oldBody })
    }
    if (after.milestoneId !== before.milestoneId) {
      await appendEvent(tx, { ...placeOf(doer), kind: 'issue.milestone_changed', payload: await subjectOf(tx, after) })
    }
    return after
  })
}

async function readPlanChange(db: Db, repo: RepositoryAccess, option: EditIssueOption): Promise<Partial<IssueRow>> {
  // Wire: `unset_due_date` that is false says that there is a deadline.
  if (option.unset_due_date === false && option.due_date === undefined) throw badRequest('The due_date cannot be empty')
  return {
    ref: option.ref,
    milestoneId: option.milestone === undefined ? undefined : await readMilestone(db, repo, option.milestone),
    dueAt: option.unset_due_date ? null : givenDeadline(option.due_date),
  }
}

async function readAssigneeChange(db: Db, repo: RepositoryAccess, option: EditIssueOption) {
  if (option.assignees === undefined && option.assignee === undefined) return undefined
  return readAssignees(db, repo, [...(option.assignees ?? []), ...(option.assignee ? [option.assignee] : [])])
}

function readTextChange(before: IssueRow, option: EditIssueOption): Partial<IssueRow> {
  if (option.content_version !== undefined && option.content_version !== before.contentVersion)
    throw conflict('the body has changed since it was read: read it again')
  // Wire: blanks around a title stay, and one that is too long is cut.
  const title = option.title?.trim() ? cutToBytes(option.title, MAX_TITLE_BYTES) : before.title
  const body = option.body ?? before.body
  if (title === before.title && body === before.body) return {}
  return { title, body, ...(body === before.body ? {} : { contentVersion: before.contentVersion + 1 }) }
}

/** Wire: 412. */
function requireKnownState({ state }: EditIssueOption): void {
  if (state !== undefined && state !== 'open' && state !== 'closed') throw preconditionFailed(`unknown state: ${state}`)
}

function readStateChange({ clock }: Context, before: IssueRow, option: EditIssueOption): Partial<IssueRow> {
  const isClosed = option.state === undefined ? before.isClosed : option.state === 'closed'
  return isClosed === before.isClosed ? {} : { isClosed, closedAt: isClosed ? clock.now() : null }
}

/** Whoever adds a dependency at this moment waits for the issue's row, or was first. */
async function requireClosable(tx: Db, { repository }: RepositoryAccess, issue: IssueRow): Promise<void> {
  if (repository.enableIssueDependencies && (await hasOpenDependency(tx, issue.id)))
    throw preconditionFailed('cannot close this issue or pull request because it still has open dependencies')
}

async function assign(
  tx: Db,
  doer: Doer,
  { issue, assignees }: { issue: IssueRow; assignees: readonly { id: number }[] },
): Promise<void> {
  const ids = assignees.map(({ id }) => id)
  const { added, removed } = await replaceAssignees(tx, issue.id, ids)
  const entries = [...assigneeHistory(removed, true), ...assigneeHistory(added, false)]
  await recordHistory(tx, historyDoer(doer, issue), entries)
  const payload = await subjectOf(tx, issue)
  if (removed.length > 0) {
    await appendEvent(tx, { ...placeOf(doer), kind: 'issue.unassigned', payload: { ...payload, userIds: removed } })
  }
  if (added.length > 0) {
    await appendEvent(tx, { ...placeOf(doer), kind: 'issue.assigned', payload: { ...payload, userIds: added } })
  }
}

/** Tells of an issue that has changed in this transaction. */
export async function recordEdit(
  tx: Db,
  doer: Doer,
  { after, ...old }: { after: IssueRow; oldTitle?: string | undefined; oldBody: string | undefined },
): Promise<void> {
  const payload = { ...(await subjectOf(tx, after)), ...old }
  await appendEvent(tx, { ...placeOf(doer), kind: 'issue.edited', payload })
}

const placeOf = ({ actor, repo }: Doer) => ({
  actorId: actor.user.id,
  repositoryId: repo.repository.id,
  ownerId: repo.owner.id,
})

const historyDoer = ({ actor }: Doer, { id }: IssueRow) => ({ issueId: id, posterId: actor.user.id })

const subjectOf = async (tx: Db, issue: IssueRow) => ({
  issueId: issue.id,
  number: issue.number,
  isPull: issue.isPull,
  facts: await readFacts(tx, issue),
})
