import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'

/** Of what came from another server; absent for what was written here. */
const originalAuthor = { originalAuthor: Type.Optional(Type.String()), originalAuthorId: Type.Optional(Type.Integer()) }

const Repository = Type.Object({ repositoryId: Type.Integer(), name: Type.String(), ownerName: Type.String() })
const OptionalTime = Type.Union([Type.String(), Type.Null()])

/** Files that were there when the event happened; versions before this one did not say. */
const Asset = Type.Object({
  id: Type.Integer(),
  uuid: Type.String(),
  name: Type.String(),
  size: Type.Integer(),
  downloadCount: Type.Integer(),
  createdAt: Type.String(),
})
export type AssetFacts = Static<typeof Asset>
const assets = { assets: Type.Optional(Type.Array(Asset)) }

/**
 * An issue as it was when the event happened. Hooks show that, and not what it is when they are sent. Times are ISO 8601.
 */
const IssueFacts = Type.Object({
  posterId: Type.Union([Type.Integer(), Type.Null()]),
  ...originalAuthor,
  title: Type.String(),
  body: Type.String(),
  ref: Type.String(),
  isClosed: Type.Boolean(),
  isLocked: Type.Boolean(),
  commentsCount: Type.Integer(),
  milestoneId: Type.Union([Type.Integer(), Type.Null()]),
  timeEstimateSeconds: Type.Integer(),
  pinOrder: Type.Integer(),
  contentVersion: Type.Integer(),
  dueAt: OptionalTime,
  closedAt: OptionalTime,
  createdAt: Type.String(),
  updatedAt: Type.String(),
  labelIds: Type.Array(Type.Integer()),
  assigneeIds: Type.Array(Type.Integer()),
  ...assets,
})
export type IssueFacts = Static<typeof IssueFacts>

const Issue = Type.Object({
  issueId: Type.Integer(),
  number: Type.Integer(),
  isPull: Type.Boolean(),
  /** Absent in events of older versions. */
  facts: Type.Optional(IssueFacts),
})
/** With its row among the comments. */
const StateChange = Type.Composite([Issue, Type.Object({ commentId: Type.Optional(Type.Integer()) })])
const CommentFacts = Type.Object({
  posterId: Type.Union([Type.Integer(), Type.Null()]),
  ...originalAuthor,
  body: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  ...assets,
})
export type CommentFacts = Static<typeof CommentFacts>

const Comment = Type.Composite([
  Issue,
  Type.Object({ commentId: Type.Integer(), comment: Type.Optional(CommentFacts) }),
])
const Ref = Type.Object({
  /** In full, such as `refs/heads/main`. */
  ref: Type.String(),
  sha: Type.String(),
})
const PushedCommit = Type.Object({
  sha: Type.String(),
  message: Type.String(),
  authorName: Type.String(),
  authorEmail: Type.String(),
  /** Times are ISO 8601 in UTC. */
  authoredAt: Type.String(),
  committerName: Type.String(),
  committerEmail: Type.String(),
  committedAt: Type.String(),
})
/** A release that is no draft, as it was when the event happened. Times are ISO 8601. */
const Release = Type.Object({
  releaseId: Type.Integer(),
  tagName: Type.String(),
  target: Type.String(),
  title: Type.String(),
  body: Type.String(),
  isPrerelease: Type.Boolean(),
  authorId: Type.Union([Type.Integer(), Type.Null()]),
  createdAt: Type.String(),
  publishedAt: Type.String(),
  ...assets,
})
/** A run of a workflow as it was when the event happened. Times are ISO 8601. */
const Run = Type.Object({
  runId: Type.Integer(),
  number: Type.Integer(),
  title: Type.String(),
  workflowFile: Type.String(),
  workflowName: Type.String(),
  workflowPath: Type.String(),
  event: Type.String(),
  ref: Type.String(),
  headSha: Type.String(),
  status: Type.String(),
  conclusion: Type.Union([Type.String(), Type.Null()]),
  runActorId: Type.Union([Type.Integer(), Type.Null()]),
  startedAt: OptionalTime,
  completedAt: OptionalTime,
  /** How many runs started one another before this one, and the first of them. */
  chainLength: Type.Integer(),
  chainRootId: Type.Union([Type.Integer(), Type.Null()]),
})
const JobStep = Type.Object({
  name: Type.String(),
  status: Type.String(),
  conclusion: Type.Union([Type.String(), Type.Null()]),
  startedAt: OptionalTime,
  completedAt: OptionalTime,
})
/** A job of a run as it was when the event happened. The runner is absent before one has it. */
const Job = Type.Object({
  jobId: Type.Integer(),
  runId: Type.Integer(),
  name: Type.String(),
  labels: Type.Array(Type.String()),
  attempt: Type.Integer(),
  ref: Type.String(),
  headSha: Type.String(),
  status: Type.String(),
  conclusion: Type.Union([Type.String(), Type.Null()]),
  runner: Type.Optional(
    Type.Object({ runnerId: Type.Integer(), runnerName: Type.String(), steps: Type.Array(JobStep) }),
  ),
  createdAt: Type.String(),
  startedAt: OptionalTime,
  completedAt: OptionalTime,
})
/** `comment` is the message of the commit; nothing is said of a page that is gone. */
const WikiPage = Type.Object({ title: Type.String(), comment: Type.String() })
const Person = Type.Object({ userId: Type.Integer(), name: Type.String() })

/**
 * Every kind of event and what its payload holds: what a reaction cannot load any more when it runs (old names, old
 * objects, rows that are gone). To add one, add a line. A kind once released keeps its meaning, and its payload only
 * gains optional fields: rows written by other versions wait in the database.
 */
export const eventCatalogue = {
  'user.created': Person,
  'user.renamed': Type.Composite([Person, Type.Object({ oldName: Type.String() })]),
  'user.deleted': Person,
  'organization.created': Person,
  'organization.renamed': Type.Composite([Person, Type.Object({ oldName: Type.String() })]),
  'organization.deleted': Person,
  'repository.created': Repository,
  'repository.forked': Type.Composite([
    Repository,
    Type.Object({ forkedFromId: Type.Integer(), forkedFromOwnerId: Type.Optional(Type.Integer()) }),
  ]),
  /** The branches and tags of the server that it is copied from have come. */
  'repository.migrated': Type.Object({}),
  /** Another branch is the default one, without a push. */
  'repository.default_branch_changed': Type.Object({}),
  'repository.renamed': Type.Composite([Repository, Type.Object({ oldName: Type.String() })]),
  'repository.transferred': Type.Composite([
    Repository,
    Type.Object({ oldOwnerId: Type.Integer(), oldOwnerName: Type.String() }),
  ]),
  /** With what clients saw of it: an object of `wire/repository.ts`. */
  'repository.deleted': Type.Composite([
    Repository,
    Type.Object({ shown: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
  ]),
  /** One per ref that moved, after the transaction that recorded it. */
  push: Type.Object({
    /** In full, such as `refs/heads/main`. */
    ref: Type.String(),
    /** Zeros when the ref is new. */
    oldSha: Type.String(),
    /** Zeros when the ref is gone. */
    newSha: Type.String(),
    /** New on this branch; 0 for tags and deletions. */
    commitsCount: Type.Integer(),
    isForced: Type.Boolean(),
    /** It came from the server that the repository mirrors; absent for what somebody pushed. */
    isMirrorSync: Type.Optional(Type.Boolean()),
    /** The newest of them, newest first; absent where the push moved so many refs that they were not read. */
    commits: Type.Optional(Type.Array(PushedCommit)),
  }),
  'ref.created': Ref,
  /** With the object it pointed to. */
  'ref.deleted': Ref,
  'issue.created': Issue,
  'issue.edited': Type.Composite([
    Issue,
    Type.Object({ oldTitle: Type.Optional(Type.String()), oldBody: Type.Optional(Type.String()) }),
  ]),
  'issue.closed': StateChange,
  'issue.reopened': StateChange,
  /** To these, who were not assigned before. The event of a new issue names its assignees already. */
  'issue.assigned': Type.Composite([Issue, Type.Object({ userIds: Type.Array(Type.Integer()) })]),
  'issue.unassigned': Type.Composite([Issue, Type.Object({ userIds: Type.Array(Type.Integer()) })]),
  /** It belongs to the milestone of its facts now, or to none. */
  'issue.milestone_changed': Issue,
  /** It has the labels of its facts now. */
  'issue.labels_changed': Issue,
  /** With the labels that it had until then in its facts. */
  'issue.labels_cleared': Issue,
  'issue.deleted': Issue,
  'comment.created': Comment,
  'comment.edited': Type.Composite([Comment, Type.Object({ oldBody: Type.String() })]),
  'comment.deleted': Type.Composite([Comment, Type.Object({ body: Type.String() })]),
  'release.published': Release,
  'release.updated': Release,
  'release.deleted': Release,
  'status.created': Type.Object({
    statusId: Type.Integer(),
    sha: Type.String(),
    state: Type.String(),
    context: Type.String(),
    description: Type.String(),
    targetUrl: Type.String(),
    /** ISO 8601. */
    createdAt: Type.String(),
  }),
  /** A schedule of workflows is due. The actor is who pushed it. */
  'workflow_schedule.due': Type.Object({ cron: Type.String(), timezone: Type.Optional(Type.String()) }),
  /** The actor is who started the present attempt. */
  'workflow_run.requested': Run,
  /** Once for each attempt, with the first job that a runner takes. */
  'workflow_run.in_progress': Run,
  'workflow_run.completed': Run,
  /** It waits for other jobs. */
  'workflow_job.waiting': Job,
  'workflow_job.queued': Job,
  'workflow_job.in_progress': Job,
  'workflow_job.completed': Job,
  /** By the API. A push to a wiki has no event. */
  'wiki.page_created': WikiPage,
  /** Under the title that the page has now. */
  'wiki.page_edited': WikiPage,
  'wiki.page_deleted': WikiPage,
  'star.added': Type.Object({}),
  'star.removed': Type.Object({}),
} satisfies Record<string, TSchema>

type Catalogue = typeof eventCatalogue
export type EventKind = keyof Catalogue
export type EventPayload<Kind extends EventKind> = Static<Catalogue[Kind]>

interface Subject {
  /** Who did it; null for the service itself. */
  actorId: number | null
  repositoryId?: number | null
  /** The user or organization it belongs to: the repository's owner, or the subject itself. */
  ownerId?: number | null
}

/** What a service says happened. A union over the kinds: a test of `kind` narrows `payload`. */
export type NewEvent<Kind extends EventKind = EventKind> = {
  [One in Kind]: Subject & { kind: One; payload: EventPayload<One> }
}[Kind]

/** The same, as read back. */
export type StoredEvent<Kind extends EventKind = EventKind> = {
  [One in Kind]: Required<Subject> & { id: number; kind: One; payload: EventPayload<One>; createdAt: Date }
}[Kind]

/** Whether a kind read from the database is one this version knows. */
export function isEventKind(kind: string): kind is EventKind {
  return Object.hasOwn(eventCatalogue, kind)
}
