import { t } from 'elysia'
import { ActionWorkflowJob } from './actions-job.ts'
import { ActionWorkflowRun } from './actions-run.ts'
import { ActionWorkflow } from './actions-workflow.ts'
import { Comment } from './comment.ts'
import { int64 } from './fields.ts'
import { Issue } from './issue.ts'
import { PayloadCommit } from './payload-commit.ts'
import { Release } from './release.ts'
import { Repository } from './repository.ts'
import { User } from './user.ts'

/** What is in every payload. Wire: people are shown as visitors see them, so that no hidden address leaves. */
export interface HookCommon {
  repository: Repository
  sender: User
}
const common = { repository: Repository, sender: User }

/** Wire: without a verification, which a reader looks up where it matters. */
export type HookCommit = typeof HookCommit.static
export const HookCommit = t.Object({ ...PayloadCommit.properties, verification: t.Null() }, { $id: 'HookCommit' })

export type PushPayload = typeof PushPayload.static
export const PushPayload = t.Object(
  {
    ref: t.String({ description: 'In full, such as `refs/heads/main`' }),
    before: t.String(),
    after: t.String(),
    compare_url: t.String(),
    commits: t.Array(HookCommit, { description: 'The newest five at most, newest first' }),
    total_commits: t.Integer({ description: 'All of them' }),
    head_commit: t.Nullable(HookCommit),
    pusher: User,
    ...common,
  },
  { $id: 'PushPayload', description: 'A branch or a tag was pushed.' },
)

const refType = t.Union([t.Literal('branch'), t.Literal('tag')])

export type CreatePayload = typeof CreatePayload.static
export const CreatePayload = t.Object(
  { sha: t.String(), ref: t.String({ description: 'Its short name' }), ref_type: refType, ...common },
  { $id: 'CreatePayload', description: 'A branch or a tag was made.' },
)

export type DeletePayload = typeof DeletePayload.static
export const DeletePayload = t.Object(
  { ref: t.String({ description: 'Its short name' }), ref_type: refType, pusher_type: t.Literal('user'), ...common },
  { $id: 'DeletePayload', description: 'A branch or a tag was deleted.' },
)

export type ForkPayload = typeof ForkPayload.static
export const ForkPayload = t.Object(
  { forkee: Repository, ...common },
  { $id: 'ForkPayload', description: 'A repository was forked: `forkee` is the original, `repository` the fork.' },
)

export type RepositoryPayload = typeof RepositoryPayload.static
export const RepositoryPayload = t.Object(
  { action: t.Union([t.Literal('created'), t.Literal('deleted')]), organization: User, ...common },
  { $id: 'RepositoryPayload', description: 'A repository came or went. `organization` is its owner, a person too.' },
)

const before = t.Optional(t.Object({ from: t.String() }))
const changes = t.Optional(
  t.Object(
    { title: before, body: before, added_labels: t.Null(), removed_labels: t.Null() },
    { description: 'What was there before an edit' },
  ),
)

export type IssuePayload = typeof IssuePayload.static
export const IssuePayload = t.Object(
  { action: t.String(), number: t.Integer(), changes, issue: Issue, commit_id: t.String(), ...common },
  { $id: 'IssuePayload', description: 'Something happened to an issue.' },
)

export type CommentPayload = typeof CommentPayload.static
export const CommentPayload = t.Object(
  { action: t.String(), issue: Issue, comment: Comment, changes, is_pull: t.Boolean(), ...common },
  { $id: 'CommentPayload', description: 'A comment was written, changed or deleted.' },
)

export type ReleasePayload = typeof ReleasePayload.static
export const ReleasePayload = t.Object(
  {
    action: t.Union([t.Literal('published'), t.Literal('updated'), t.Literal('deleted')]),
    release: Release,
    ...common,
  },
  { $id: 'ReleasePayload', description: 'A release was published, changed or deleted.' },
)

export type WikiPayload = typeof WikiPayload.static
export const WikiPayload = t.Object(
  {
    action: t.Union([t.Literal('created'), t.Literal('edited'), t.Literal('deleted')]),
    page: t.String(),
    comment: t.String(),
    ...common,
  },
  { $id: 'WikiPayload', description: 'A page of the wiki was written, changed or deleted.' },
)

export type StatusPayload = typeof StatusPayload.static
export const StatusPayload = t.Object(
  {
    id: int64(),
    sha: t.String(),
    state: t.String(),
    context: t.String(),
    description: t.String(),
    target_url: t.String(),
    commit: t.Nullable(HookCommit, { description: 'Null where it is gone' }),
    created_at: t.String({ format: 'date-time' }),
    updated_at: t.String({ format: 'date-time' }),
    ...common,
  },
  { $id: 'StatusPayload', description: 'A status of a commit was written.' },
)

export type WorkflowRunPayload = typeof WorkflowRunPayload.static
export const WorkflowRunPayload = t.Object(
  {
    action: t.Union([t.Literal('requested'), t.Literal('in_progress'), t.Literal('completed')]),
    workflow: ActionWorkflow,
    workflow_run: ActionWorkflowRun,
    ...common,
  },
  { $id: 'WorkflowRunPayload', description: 'A run of a workflow was made, has begun, or has ended.' },
)

export type WorkflowJobPayload = typeof WorkflowJobPayload.static
export const WorkflowJobPayload = t.Object(
  {
    action: t.Union([t.Literal('waiting'), t.Literal('queued'), t.Literal('in_progress'), t.Literal('completed')]),
    workflow_job: ActionWorkflowJob,
    ...common,
  },
  { $id: 'WorkflowJobPayload', description: 'A job waits for others or for a runner, has begun, or has ended.' },
)

/** What hooks are sent, by the word that `X-Gitea-Event-Type` has. */
export const hookPayloads = {
  create: CreatePayload,
  delete: DeletePayload,
  fork: ForkPayload,
  push: PushPayload,
  issues: IssuePayload,
  issue_assign: IssuePayload,
  issue_label: IssuePayload,
  issue_milestone: IssuePayload,
  issue_comment: CommentPayload,
  pull_request_comment: CommentPayload,
  repository: RepositoryPayload,
  release: ReleasePayload,
  wiki: WikiPayload,
  status: StatusPayload,
  workflow_run: WorkflowRunPayload,
  workflow_job: WorkflowJobPayload,
} as const
