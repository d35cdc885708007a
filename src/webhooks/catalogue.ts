import type { Context } from '../context.ts'
import { type EventKind, isEventKind, type StoredEvent } from '../events/catalogue.ts'
import type { News } from './news.ts'
import { newsOfComment, newsOfIssue } from './news-of-issues.ts'
import { newsOfPush, newsOfRef } from './news-of-refs.ts'
import { newsOfRelease } from './news-of-releases.ts'
import { newsOfFork, newsOfRepository } from './news-of-repositories.ts'
import { newsOfJob, newsOfRun } from './news-of-runs.ts'
import { newsOfStatus } from './news-of-statuses.ts'
import { newsOfWiki } from './news-of-wikis.ts'

type NewsSource<Kind extends EventKind> = (context: Context, event: StoredEvent<Kind>) => Promise<News[]>

/** For an event that is sent to no hook: the recorded server sends nothing for it. */
const nothing = async (): Promise<News[]> => []

/** The messages that hooks get for each kind of event. A kind without a line here does not compile. */
export const hookCatalogue: { readonly [Kind in EventKind]: NewsSource<Kind> } = {
  push: newsOfPush,
  'ref.created': (context, event) => newsOfRef(context, event, 'create'),
  'ref.deleted': (context, event) => newsOfRef(context, event, 'delete'),
  'issue.created': (context, event) => newsOfIssue(context, event, 'opened'),
  'issue.edited': (context, event) => newsOfIssue(context, event, 'edited'),
  'issue.closed': (context, event) => newsOfIssue(context, event, 'closed'),
  'issue.reopened': (context, event) => newsOfIssue(context, event, 'reopened'),
  'issue.deleted': (context, event) => newsOfIssue(context, event, 'deleted'),
  'issue.assigned': (context, event) => newsOfIssue(context, event, 'assigned'),
  'issue.unassigned': (context, event) => newsOfIssue(context, event, 'unassigned'),
  'issue.milestone_changed': (context, event) => newsOfIssue(context, event, 'milestone'),
  'issue.labels_changed': (context, event) => newsOfIssue(context, event, 'label_updated'),
  'issue.labels_cleared': (context, event) => newsOfIssue(context, event, 'label_cleared'),
  'comment.created': (context, event) => newsOfComment(context, event, 'created'),
  'comment.edited': (context, event) => newsOfComment(context, event, 'edited'),
  'comment.deleted': (context, event) => newsOfComment(context, event, 'deleted'),
  'repository.created': (context, event) => newsOfRepository(context, event, 'created'),
  'repository.deleted': (context, event) => newsOfRepository(context, event, 'deleted'),
  'repository.forked': newsOfFork,
  'release.published': (context, event) => newsOfRelease(context, event, 'published'),
  'release.updated': (context, event) => newsOfRelease(context, event, 'updated'),
  'release.deleted': (context, event) => newsOfRelease(context, event, 'deleted'),
  'status.created': newsOfStatus,
  'workflow_run.requested': (context, event) => newsOfRun(context, event, 'requested'),
  'workflow_run.in_progress': (context, event) => newsOfRun(context, event, 'in_progress'),
  'workflow_run.completed': (context, event) => newsOfRun(context, event, 'completed'),
  'workflow_job.waiting': (context, event) => newsOfJob(context, event, 'waiting'),
  'workflow_job.queued': (context, event) => newsOfJob(context, event, 'queued'),
  'workflow_job.in_progress': (context, event) => newsOfJob(context, event, 'in_progress'),
  'workflow_job.completed': (context, event) => newsOfJob(context, event, 'completed'),
  'wiki.page_created': (context, event) => newsOfWiki(context, event, 'created'),
  'wiki.page_edited': (context, event) => newsOfWiki(context, event, 'edited'),
  'wiki.page_deleted': (context, event) => newsOfWiki(context, event, 'deleted'),
  'repository.default_branch_changed': nothing,
  'workflow_schedule.due': nothing,
  'repository.renamed': nothing,
  'repository.transferred': nothing,
  'user.created': nothing,
  'user.renamed': nothing,
  'user.deleted': nothing,
  'organization.created': nothing,
  'organization.renamed': nothing,
  'organization.deleted': nothing,
  'star.added': nothing,
  'repository.migrated': nothing,
  'star.removed': nothing,
}

/** Kinds that make messages for hooks. */
export const hookKinds: readonly EventKind[] = Object.keys(hookCatalogue)
  .filter(isEventKind)
  .filter((kind) => hookCatalogue[kind] !== nothing)
