/** The parts of a payload that messages to people are made of. The payloads themselves are made in `wire/`. */

export interface Person {
  login: string
  full_name: string
  html_url: string
  avatar_url: string
}

export interface RepositoryPart {
  full_name: string
  html_url: string
}

/** An issue or a pull request. */
export interface SubjectPart {
  number: number
  title: string
  body: string
  html_url: string
  user: Person
  assignees: readonly Person[] | null
  milestone: { id: number; title: string } | null
}

export interface CommitPart {
  id: string
  message: string
  url: string
  author: { name: string }
}

interface Common {
  repository: RepositoryPart
  sender: Person
}

interface IssuePayload extends Common {
  action: string
  issue: SubjectPart
}

interface PullRequestPayload extends Common {
  action: string
  pull_request: SubjectPart & { merged: boolean }
  review?: { content: string } | null
}

interface CommentPayload extends Common {
  action: string
  issue: SubjectPart
  comment: { body: string; html_url: string }
  is_pull: boolean
}

export interface PushPayload extends Common {
  /** In full, such as `refs/heads/main`. */
  ref: string
  compare_url: string
  commits: readonly CommitPart[]
  total_commits: number
}

interface RefPayload extends Common {
  /** Short, such as `main`. */
  ref: string
  ref_type: string
}

interface WorkflowPart {
  id: number
  html_url: string
  head_sha: string
  status: string
  conclusion?: string | null
}

interface ActionPayload extends Common {
  action: string
}

/** What happened, by the `X-Gitea-Event-Type` word of its delivery. */
export type HookMessageEvent =
  | { type: 'create' | 'delete'; payload: RefPayload }
  | { type: 'push'; payload: PushPayload }
  | { type: 'fork'; payload: Common & { forkee: RepositoryPart } }
  | { type: 'issues' | 'issue_assign' | 'issue_label' | 'issue_milestone'; payload: IssuePayload }
  | {
      type:
        | 'pull_request'
        | 'pull_request_assign'
        | 'pull_request_label'
        | 'pull_request_milestone'
        | 'pull_request_sync'
        | 'pull_request_review_request'
      payload: PullRequestPayload
    }
  | { type: ReviewType; payload: PullRequestPayload }
  | { type: 'issue_comment' | 'pull_request_comment'; payload: CommentPayload }
  | { type: 'repository'; payload: ActionPayload }
  | { type: 'release'; payload: ActionPayload & { release: { tag_name: string; html_url: string; body: string } } }
  | { type: 'wiki'; payload: ActionPayload & { page: string; comment: string } }
  | { type: 'package'; payload: Omit<ActionPayload, 'repository'> & { package: PackagePart } }
  | {
      type: 'status'
      payload: Common & { context: string; sha: string; description: string; state: string; target_url: string }
    }
  | { type: 'workflow_run'; payload: ActionPayload & { workflow_run: WorkflowPart & { display_title: string } } }
  | { type: 'workflow_job'; payload: ActionPayload & { workflow_job: WorkflowPart & { name: string; run_id: number } } }

export type ReviewType = 'pull_request_review_approved' | 'pull_request_review_rejected' | 'pull_request_review_comment'

interface PackagePart {
  name: string
  version: string
  html_url: string
}

export type HookMessageType = HookMessageEvent['type']
