import { eq } from 'drizzle-orm'
import { anyOf } from '../../db/any-of.ts'
import type { Db } from '../../db/client.ts'
import { type CommentRow, type IssueRow, labels, milestones } from '../../db/schema/issues.ts'
import { users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import type { CommentFacts, IssueFacts, StoredEvent } from '../events/catalogue.ts'
import { presentComment } from '../wire/comment.ts'
import { type HookChanges, presentCommentPayload, presentIssuePayload } from '../wire/hook-payload.ts'
import type { HookCommon } from '../wire/hook-schema.ts'
import { type Issue, presentIssue } from '../wire/issue.ts'
import { hookViewer, showCommon, withTime } from './common.ts'
import type { HookMessageType } from './messages/payload.ts'
import type { News } from './news.ts'

type IssueEvent = StoredEvent<
  | 'issue.created'
  | 'issue.edited'
  | 'issue.closed'
  | 'issue.reopened'
  | 'issue.deleted'
  | 'issue.assigned'
  | 'issue.unassigned'
  | 'issue.milestone_changed'
  | 'issue.labels_changed'
  | 'issue.labels_cleared'
>

/** What was done, in the words of the API; `milestone` becomes one of two by what the issue has then. */
type Deed =
  | 'opened'
  | 'edited'
  | 'closed'
  | 'reopened'
  | 'deleted'
  | 'assigned'
  | 'unassigned'
  | 'label_updated'
  | 'label_cleared'
  | 'milestone'

type IssueType = Extract<HookMessageType, 'issues' | 'issue_assign' | 'issue_label' | 'issue_milestone'>

export async function newsOfIssue(context: Context, event: IssueEvent, deed: Deed): Promise<News[]> {
  const common = await showCommon(context, event)
  const issue = common && (await showIssue(context, event, common))
  if (!common || !issue) return []
  const subject = `issue:${event.repositoryId}:${event.payload.number}`
  const newsOf = (type: IssueType, action: string, changes?: HookChanges): News => ({
    event: { type, payload: presentIssuePayload(common, { action, issue, ...(changes && { changes }) }) },
    subject,
  })
  switch (deed) {
    case 'opened':
      return [newsOf('issues', 'opened'), ...plansOf(issue).map(([type, action]) => newsOf(type, action))]
    case 'edited':
      return event.kind === 'issue.edited' ? editsOf(event).map((changes) => newsOf('issues', 'edited', changes)) : []
    case 'assigned':
    case 'unassigned':
      return [newsOf('issue_assign', deed)]
    case 'label_updated':
    case 'label_cleared':
      return [newsOf('issue_label', deed)]
    case 'milestone':
      return [newsOf('issue_milestone', issue.milestone === null ? 'demilestoned' : 'milestoned')]
    default:
      return [newsOf('issues', deed)]
  }
}

/** A new issue that has labels, a milestone or assignees gives one message for each. */
function plansOf({ labels: carried, milestone, assignees }: Issue): [type: IssueType, action: string][] {
  const plans: [IssueType, string][] = []
  if (carried.length > 0) plans.push(['issue_label', 'label_updated'])
  if (milestone !== null) plans.push(['issue_milestone', 'milestoned'])
  if (assignees !== null) plans.push(['issue_assign', 'assigned'])
  return plans
}

/** Wire: one delivery for each field. */
function editsOf({ payload: { oldTitle, oldBody } }: StoredEvent<'issue.edited'>): HookChanges[] {
  return [
    ...(oldTitle === undefined ? [] : [{ title: { from: oldTitle } }]),
    ...(oldBody === undefined ? [] : [{ body: { from: oldBody } }]),
  ]
}

export async function newsOfComment(
  context: Context,
  event: StoredEvent<'comment.created' | 'comment.edited' | 'comment.deleted'>,
  action: 'created' | 'edited' | 'deleted',
): Promise<News[]> {
  const common = await showCommon(context, event)
  const issue = common && (await showIssue(context, event, common))
  const { payload } = event
  if (!common || !issue || !payload.comment) return []
  const comment = await showComment(context, payload.comment, { ...payload, url: common.repository.html_url })
  const changes = event.kind === 'comment.edited' ? { changes: { body: { from: event.payload.oldBody } } } : {}
  const body = presentCommentPayload(common, { action, issue, comment, ...changes })
  const type = payload.isPull ? 'pull_request_comment' : 'issue_comment'
  return [{ event: { type, payload: body }, subject: `issue:${event.repositoryId}:${payload.number}` }]
}

interface IssuePayload {
  issueId: number
  number: number
  isPull: boolean
  facts?: IssueFacts | undefined
}

/** The issue as it was when the event happened. Events of older versions have no facts, and no hook is sent for them. */
async function showIssue(
  context: Context,
  { payload, repositoryId }: { payload: IssuePayload; repositoryId: number | null },
  { repository }: HookCommon,
): Promise<Issue | undefined> {
  const { facts } = payload
  if (!facts || repositoryId === null) return undefined
  const { db } = context
  const { labelIds, assigneeIds } = facts
  const [people, carried, planned] = await Promise.all([
    findUsers(db, [...assigneeIds, ...(facts.posterId === null ? [] : [facts.posterId])]),
    labelIds.length === 0
      ? []
      : db.select().from(labels).where(anyOf(labels.id, labelIds)).orderBy(labels.name, labels.id),
    facts.milestoneId === null ? [] : db.select().from(milestones).where(eq(milestones.id, facts.milestoneId)),
  ])
  const shown = {
    issue: rowOf(payload, facts, repositoryId),
    poster: people.find(({ id }) => id === facts.posterId),
    assignees: people.filter(({ id }) => assigneeIds.includes(id)),
    labels: carried,
    milestone: planned[0],
    assets: (facts.assets ?? []).map(withTime),
  }
  const { owner, name, url, html_url: htmlUrl } = repository
  return presentIssue(
    shown,
    { id: repositoryId, name, ownerName: owner.login, apiUrl: url, htmlUrl },
    hookViewer(context),
  )
}

const findUsers = async (db: Db, ids: readonly number[]) =>
  ids.length === 0
    ? []
    : db
        .select()
        .from(users)
        .where(anyOf(users.id, new Set(ids)))
        .orderBy(users.id)

const time = (text: string | null): Date | null => (text === null ? null : new Date(text))

function rowOf({ issueId, number, isPull }: IssuePayload, facts: IssueFacts, repositoryId: number): IssueRow {
  const { labelIds: _, assigneeIds: __, assets: ___, ...fields } = facts
  return {
    ...fields,
    ...{ id: issueId, number, isPull, repositoryId, lockReason: '' },
    ...originalOf(facts),
    dueAt: time(facts.dueAt),
    closedAt: time(facts.closedAt),
    createdAt: new Date(facts.createdAt),
    updatedAt: new Date(facts.updatedAt),
  }
}

const originalOf = ({ originalAuthor = '', originalAuthorId = 0 }: IssueFacts | CommentFacts) => ({
  originalAuthor,
  originalAuthorId,
})

async function showComment(
  context: Context,
  facts: CommentFacts,
  {
    commentId,
    issueId,
    number,
    isPull,
    url,
  }: { commentId: number; issueId: number; number: number; isPull: boolean; url: string },
) {
  const [poster] = facts.posterId === null ? [] : await findUsers(context.db, [facts.posterId])
  const comment: CommentRow = {
    ...{ id: commentId, issueId, kind: 'comment', posterId: facts.posterId, body: facts.body, contentVersion: 0 },
    labelId: null,
    ...originalOf(facts),
    dependentIssueId: null,
    refRepositoryId: null,
    refIssueId: null,
    refCommentId: null,
    refCommitSha: null,
    refAction: null,
    ...{ oldTitle: '', newTitle: '', oldMilestoneId: null, milestoneId: null, assigneeId: null, isUnassigned: false },
    createdAt: new Date(facts.createdAt),
    updatedAt: new Date(facts.updatedAt),
  }
  const assets = (facts.assets ?? []).map(withTime)
  return presentComment({ comment, poster, issue: { number, isPull }, assets }, url, hookViewer(context))
}
