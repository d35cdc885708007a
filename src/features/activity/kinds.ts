import type { StoredEvent } from '../../events/catalogue.ts'
import { wireTime } from '../../kernel/time.ts'

export const recordedKinds = [
  'repository.created',
  'repository.forked',
  'repository.renamed',
  'repository.transferred',
  'push',
  'issue.created',
  'issue.closed',
  'issue.reopened',
  'comment.created',
  'release.published',
  'star.added',
] as const
export type RecordedEvent = StoredEvent<(typeof recordedKinds)[number]>

/** What becomes of an event in the feeds. */
export interface Operation {
  opType: string
  refName?: string
  issueId?: number
  commentId?: number
  content?: string
}

/** Gitea's words for an event and what the feed keeps of it; none for what is no news. */
export function operationsOf(event: RecordedEvent, fullName: string): Operation[] {
  if (event.kind === 'push' && event.payload.isMirrorSync) return mirrorSyncOf(event.payload, fullName)
  const operation = operationOf(event, fullName)
  return operation ? [operation] : []
}

function operationOf(event: RecordedEvent, fullName: string): Operation | undefined {
  switch (event.kind) {
    case 'repository.created':
    case 'repository.forked':
      return { opType: 'create_repo' }
    case 'repository.renamed':
      return { opType: 'rename_repo', content: event.payload.oldName }
    case 'repository.transferred':
      return { opType: 'transfer_repo', content: `${event.payload.oldOwnerName}/${event.payload.name}` }
    case 'push':
      return pushOf(event.payload, fullName)
    case 'release.published':
      return { opType: 'publish_release', refName: event.payload.tagName, content: event.payload.title }
    case 'star.added':
      return { opType: 'star_repo' }
    default:
      return issueOf(event)
  }
}

type PushPayload = Extract<RecordedEvent, { kind: 'push' }>['payload']

function pushOf(payload: PushPayload, fullName: string): Operation | undefined {
  const { ref: refName, newSha } = payload
  const isGone = isZero(newSha)
  if (refName.startsWith('refs/tags/')) return { opType: isGone ? 'delete_tag' : 'push_tag', refName }
  if (!refName.startsWith('refs/heads/')) return undefined
  if (isGone) return { opType: 'delete_branch', refName }
  return { opType: 'commit_repo', refName, content: JSON.stringify(describePush(payload, fullName)) }
}

/** Wire: a ref that is new is pushed, without commits, and made. */
function mirrorSyncOf(payload: PushPayload, fullName: string): Operation[] {
  const { ref: refName, oldSha, newSha } = payload
  if (isZero(newSha)) return [{ opType: 'mirror_sync_delete', refName }]
  const isNew = isZero(oldSha)
  const told = isNew ? { ...payload, commits: [], commitsCount: 0 } : payload
  const push = { opType: 'mirror_sync_push', refName, content: JSON.stringify(describePush(told, fullName)) }
  return isNew ? [push, { opType: 'mirror_sync_create', refName }] : [push]
}

const isZero = (sha: string): boolean => /^0+$/.test(sha)

/** The newest commits of a push that a feed shows, and how much of a message. */
const MAX_COMMITS = 5
const MAX_MESSAGE = 4096

/** Wire: the keys are Gitea's internal names. */
function describePush({ oldSha, newSha, commits = [], commitsCount }: PushPayload, fullName: string) {
  const shown = commits.slice(0, MAX_COMMITS).map((commit) => ({
    Sha1: commit.sha,
    Message: commit.message.slice(0, MAX_MESSAGE),
    AuthorEmail: commit.authorEmail,
    AuthorName: commit.authorName,
    CommitterEmail: commit.committerEmail,
    CommitterName: commit.committerName,
    Signature: null,
    Timestamp: wireTime(new Date(commit.committedAt)),
  }))
  return {
    Commits: shown,
    HeadCommit: shown[0] ?? null,
    CompareURL: isZero(oldSha) ? '' : `${fullName}/compare/${oldSha}...${newSha}`,
    Len: commitsCount,
  }
}

type IssueEvent = Extract<RecordedEvent, { kind: `issue.${string}` | `comment.${string}` }>

const issueWords = {
  'issue.created': ['create_issue', 'create_pull_request'],
  'issue.closed': ['close_issue', 'close_pull_request'],
  'issue.reopened': ['reopen_issue', 'reopen_pull_request'],
  'comment.created': ['comment_issue', 'comment_pull'],
} as const

function issueOf({ kind, payload }: IssueEvent): Operation {
  const [ofIssue, ofPull] = issueWords[kind]
  const commentId = 'commentId' in payload ? payload.commentId : undefined
  return { opType: payload.isPull ? ofPull : ofIssue, issueId: payload.issueId, commentId }
}
