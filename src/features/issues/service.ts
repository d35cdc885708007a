import type { Db } from '../../../db/client.ts'
import type { IssueRow, LabelRow } from '../../../db/schema/issues.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { findAssignable } from '../../access/assignable.ts'
import { isBlocked } from '../../access/blocks.ts'
import { unitOf } from '../../access/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { type IssueBelongings, issueFacts } from '../../events/issue-facts.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { givenTime } from '../../kernel/time.ts'
import type { ShownIssue } from '../../wire/issue.ts'
import { listIssueLabels } from '../issue-labels/store.ts'
import { settleLabels } from '../labels/exclusive.ts'
import { findUsableLabels } from '../labels/store.ts'
import { findMilestones } from '../milestones/store.ts'
import { assigneeHistory, milestoneHistory } from './changes.ts'
import { type HistoryEntry, recordHistory } from './history.ts'
import type { CreateIssueOption } from './schema.ts'
import {
  addLabels,
  findBelongings,
  insertIssue,
  type NewIssue,
  readFacts,
  removeIssue,
  replaceAssignees,
} from './store.ts'

/** Whether labels, assignees, milestone and due date are this person's to set. */
export const mayPlan = ({ rights }: RepositoryAccess, issue: { isPull: boolean }): boolean =>
  rights.level(unitOf(issue)) >= Level.write

interface Plan {
  labels: LabelRow[]
  assignees: UserRow[]
  milestoneId: number | null
  dueAt: Date | null
}

/**
 * Creates an issue with all that belongs to it in one transaction.
 * @throws Refusal 403 for a blocked person, 422 for an unknown assignee or milestone
 */
export async function createIssue(
  context: Context,
  { actor, repo }: { actor: Actor; repo: RepositoryAccess },
  option: CreateIssueOption,
): Promise<ShownIssue> {
  const { db, clock } = context
  // Wire: what only writers may set is dropped in silence when others send it.
  const plan = mayPlan(repo, { isPull: false }) ? await readPlan(db, repo, option) : noPlan
  const isClosed = option.closed ?? false
  const issue = {
    repositoryId: repo.repository.id,
    posterId: actor.user.id,
    title: option.title.trim(),
    body: option.body ?? '',
    ref: option.ref ?? '',
    milestoneId: plan.milestoneId,
    dueAt: plan.dueAt,
    isClosed,
    closedAt: isClosed ? clock.now() : null,
  }
  // Most issues are this one statement: a third of the cost of a transaction with an event beside it.
  if (isBare(plan)) return { issue: await insert(db, { issue, repo, plan }), poster: actor.user, ...nothingElse }
  return db.transaction(async (tx) => {
    const row = await insert(tx, { issue, repo, plan })
    await addLabels(tx, row.id, ids(plan.labels))
    await recordHistory(tx, { issueId: row.id, posterId: actor.user.id }, [
      ...milestoneHistory(null, row.milestoneId),
      ...plan.labels.map(labelCame),
      ...assigneeHistory(ids(plan.assignees), false),
    ])
    if (plan.assignees.length > 0) await replaceAssignees(tx, row.id, ids(plan.assignees))
    const [milestone] =
      row.milestoneId === null ? [] : await findMilestones(tx, row.repositoryId, [String(row.milestoneId)])
    return {
      ...nothingElse,
      issue: row,
      poster: actor.user,
      assignees: plan.assignees,
      labels: await listIssueLabels(tx, row.id),
      milestone,
    }
  })
}

async function insert(
  db: Db,
  { issue, repo, plan }: { issue: NewIssue; repo: RepositoryAccess; plan: Plan },
): Promise<IssueRow> {
  const belongings = { labelIds: ids(plan.labels), assigneeIds: ids(plan.assignees), assets: [] }
  const row = await insertIssue(db, issue, { ownerId: repo.owner.id, belongings })
  if (row) return row
  if (issue.posterId !== null && (await isBlocked(db, { blockerId: repo.owner.id, blockedId: issue.posterId })))
    throw forbidden('the owner has blocked you')
  throw notFound()
}

const isBare = ({ labels, assignees, milestoneId }: Plan): boolean =>
  labels.length === 0 && assignees.length === 0 && milestoneId === null

const labelCame = ({ id }: LabelRow) => ({ kind: 'label', body: '1', labelId: id }) as const

const nothingElse = { assignees: [], labels: [], milestone: undefined, assets: [] }

const ids = (rows: readonly { id: number }[]): number[] => rows.map(({ id }) => id)

const noPlan: Plan = { labels: [], assignees: [], milestoneId: null, dueAt: null }

async function readPlan(db: Db, repo: RepositoryAccess, option: CreateIssueOption): Promise<Plan> {
  const names = [...(option.assignees ?? []), ...(option.assignee ? [option.assignee] : [])]
  const [assignees, milestoneId, labels] = await Promise.all([
    readAssignees(db, repo, names),
    readMilestone(db, repo, option.milestone ?? 0),
    option.labels?.length ? findUsableLabels(db, placeOf(repo), { ids: option.labels }) : [],
  ])
  return { labels: settleLabels(labels), assignees, milestoneId, dueAt: givenTime(option.due_date) ?? null }
}

export const placeOf = ({ repository }: RepositoryAccess) => ({
  repositoryId: repository.id,
  ownerId: repository.ownerId,
})

/** @throws Refusal 422 naming who cannot be asked */
export async function readAssignees(db: Db, repo: RepositoryAccess, names: readonly string[]): Promise<UserRow[]> {
  const wanted = names.filter((name) => name !== '')
  const found = await findAssignable(db, repo.repository, wanted)
  const missing = wanted.find((name) => !found.some((user) => user.lowerName === name.toLowerCase()))
  if (missing !== undefined) throw invalid(`Assignee does not exist: [name: ${missing}]`)
  return found
}

/** @throws Refusal 422 for another repository's milestone */
export async function readMilestone(db: Db, repo: RepositoryAccess, id: number): Promise<number | null> {
  if (id === 0) return null
  const found = await findMilestones(db, repo.repository.id, [String(id)])
  if (!found.some((milestone) => milestone.id === id))
    throw invalid(`milestone does not exist [id: ${id}]`, 'milestone')
  return id
}

/**
 * Removes an issue with its comments; its number is not given again.
 * @throws Refusal 404 when somebody else was quicker
 */
export async function deleteIssue(
  context: Context,
  { actor, repo }: { actor: Actor; repo: RepositoryAccess },
  shown: IssueRow,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    // What was read before may have been changed or deleted meanwhile: only the deleted row says what the event is about.
    const known = await findBelongings(tx, shown.id)
    const issue = await removeIssue(tx, shown.id)
    if (!issue) throw notFound()
    const place = { actorId: actor.user.id, repositoryId: repo.repository.id, ownerId: repo.owner.id }
    await appendIssueEvent(tx, place, { kind: 'issue.deleted', issue, known })
  })
}

/** Closes or opens an issue whose row the transaction has locked. */
export async function recordStateChange(
  tx: Db,
  place: EventPlace,
  { issue, commit }: { issue: IssueRow; commit?: Pick<HistoryEntry, 'refRepositoryId' | 'refCommitSha'> },
): Promise<void> {
  const doer = { issueId: issue.id, posterId: place.actorId }
  const [commentId] = await recordHistory(tx, doer, [{ kind: issue.isClosed ? 'close' : 'reopen', ...commit }])
  const kind = issue.isClosed ? 'issue.closed' : 'issue.reopened'
  await appendIssueEvent(tx, place, { kind, issue, ...(commentId && { commentId }) })
}

/** Who did it, and where. */
export interface EventPlace {
  actorId: number
  repositoryId: number
  ownerId: number
}

interface IssueNews {
  kind: 'issue.closed' | 'issue.reopened' | 'issue.deleted'
  issue: IssueRow
  commentId?: number
  /** Of a deleted issue, whose rows are gone when the event is sent. */
  known?: IssueBelongings
}

async function appendIssueEvent(
  tx: Db,
  place: EventPlace,
  { kind, issue, commentId, known }: IssueNews,
): Promise<void> {
  await appendEvent(tx, {
    ...place,
    kind,
    payload: {
      ...{ issueId: issue.id, number: issue.number, isPull: issue.isPull },
      ...(commentId && { commentId }),
      facts: known ? issueFacts(issue, known) : await readFacts(tx, issue),
    },
  })
}
