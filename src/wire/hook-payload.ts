import { wireTime } from '../kernel/time.ts'
import type { Comment } from './comment.ts'
import type {
  CommentPayload,
  CreatePayload,
  DeletePayload,
  ForkPayload,
  HookCommit,
  HookCommon,
  IssuePayload,
  PushPayload,
  ReleasePayload,
  RepositoryPayload,
  StatusPayload,
  WikiPayload,
} from './hook-schema.ts'
import type { Issue } from './issue.ts'
import type { Release } from './release.ts'
import type { Repository } from './repository.ts'

export interface PushFacts {
  /** In full. */
  ref: string
  before: string
  after: string
  /** The newest, newest first. */
  commits: HookCommit[]
  totalCommits: number
  headCommit: HookCommit | null
  /** What the new commits are counted from; undefined where there is nothing to compare with. */
  compareFrom: string | undefined
}

/** Wire: `commits` holds five at most, `total_commits` counts all. */
export const MAX_PUSH_COMMITS = 5

export function presentPushPayload({ repository, sender }: HookCommon, facts: PushFacts): PushPayload {
  const { ref, before, after, compareFrom } = facts
  return {
    ref,
    before,
    after,
    compare_url:
      compareFrom === undefined
        ? `${repository.html_url}/`
        : `${repository.html_url}/compare/${compareFrom}...${after}`,
    commits: facts.commits.slice(0, MAX_PUSH_COMMITS),
    total_commits: facts.totalCommits,
    head_commit: facts.headCommit,
    repository,
    pusher: sender,
    sender,
  }
}

interface RefFacts {
  /** Short. */
  ref: string
  refType: 'branch' | 'tag'
}

export const presentCreatePayload = (
  { repository, sender }: HookCommon,
  { ref, refType, sha }: RefFacts & { sha: string },
): CreatePayload => ({
  sha,
  ref,
  ref_type: refType,
  repository,
  sender,
})

export const presentDeletePayload = (
  { repository, sender }: HookCommon,
  { ref, refType }: RefFacts,
): DeletePayload => ({
  ref,
  ref_type: refType,
  pusher_type: 'user',
  repository,
  sender,
})

/** Wire: `forkee` is the original, `repository` the new fork. */
export const presentForkPayload = ({ repository, sender }: HookCommon, forkee: Repository): ForkPayload => ({
  forkee,
  repository,
  sender,
})

/** Wire: `organization` is the owner, a person too. */
export const presentRepositoryPayload = (
  { repository, sender }: HookCommon,
  action: 'created' | 'deleted',
): RepositoryPayload => ({
  action,
  repository,
  organization: repository.owner,
  sender,
})

/** What was there before an edit, by field. */
export interface HookChanges {
  title?: { from: string }
  body?: { from: string }
}

export const presentIssuePayload = (
  { repository, sender }: HookCommon,
  { action, issue, changes }: { action: string; issue: Issue; changes?: HookChanges },
): IssuePayload => ({
  action,
  number: issue.number,
  ...(changes && { changes: { ...changes, added_labels: null, removed_labels: null } }),
  issue,
  repository,
  sender,
  commit_id: '',
})

export const presentCommentPayload = (
  { repository, sender }: HookCommon,
  { action, issue, comment, changes }: { action: string; issue: Issue; comment: Comment; changes?: HookChanges },
): CommentPayload => ({
  action,
  issue,
  comment,
  ...(changes && { changes: { ...changes, added_labels: null, removed_labels: null } }),
  repository,
  sender,
  is_pull: issue.pull_request !== null,
})

export const presentReleasePayload = (
  { repository, sender }: HookCommon,
  { action, release }: { action: 'published' | 'updated' | 'deleted'; release: Release },
): ReleasePayload => ({ action, release, repository, sender })

export const presentWikiPayload = (
  { repository, sender }: HookCommon,
  { action, page, comment }: { action: 'created' | 'edited' | 'deleted'; page: string; comment: string },
): WikiPayload => ({ action, repository, sender, page, comment })

interface StatusFacts {
  statusId: number
  sha: string
  state: string
  context: string
  description: string
  targetUrl: string
  /** ISO 8601. */
  createdAt: string
  /** Null where it is gone. */
  commit: HookCommit | null
}

export function presentStatusPayload({ repository, sender }: HookCommon, facts: StatusFacts): StatusPayload {
  const at = wireTime(new Date(facts.createdAt))
  return {
    commit: facts.commit,
    context: facts.context,
    created_at: at,
    description: facts.description,
    id: facts.statusId,
    repository,
    sender,
    sha: facts.sha,
    state: facts.state,
    target_url: facts.targetUrl,
    updated_at: at,
  }
}
