import type { Context } from '../context.ts'
import { type EventKind, isEventKind, type StoredEvent } from '../events/catalogue.ts'
import type { News } from './news.ts'
import { tellComment, tellIssue } from './news-of-issues.ts'
import { tellPush, tellRef } from './news-of-refs.ts'
import { tellFork, tellRepository } from './news-of-repositories.ts'

type Teller<Kind extends EventKind> = (context: Context, event: StoredEvent<Kind>) => Promise<News[]>

/** Of an event that no hook is told of: the recorded server sends nothing for it. */
const nothing = async (): Promise<News[]> => []

/** What hooks are told of each kind of event. A kind without a line here does not compile. */
export const hookCatalogue: { readonly [Kind in EventKind]: Teller<Kind> } = {
  push: tellPush,
  'ref.created': (context, event) => tellRef(context, event, 'create'),
  'ref.deleted': (context, event) => tellRef(context, event, 'delete'),
  'issue.created': (context, event) => tellIssue(context, event, 'opened'),
  'issue.edited': (context, event) => tellIssue(context, event, 'edited'),
  'issue.closed': (context, event) => tellIssue(context, event, 'closed'),
  'issue.reopened': (context, event) => tellIssue(context, event, 'reopened'),
  'issue.deleted': (context, event) => tellIssue(context, event, 'deleted'),
  'issue.assigned': (context, event) => tellIssue(context, event, 'assigned'),
  'issue.unassigned': (context, event) => tellIssue(context, event, 'unassigned'),
  'issue.milestone_changed': (context, event) => tellIssue(context, event, 'milestone'),
  'comment.created': (context, event) => tellComment(context, event, 'created'),
  'comment.edited': (context, event) => tellComment(context, event, 'edited'),
  'comment.deleted': (context, event) => tellComment(context, event, 'deleted'),
  'repository.created': (context, event) => tellRepository(context, event, 'created'),
  'repository.deleted': (context, event) => tellRepository(context, event, 'deleted'),
  'repository.forked': tellFork,
  'repository.renamed': nothing,
  'repository.transferred': nothing,
  'user.created': nothing,
  'user.renamed': nothing,
  'user.deleted': nothing,
  'organization.created': nothing,
  'organization.renamed': nothing,
  'organization.deleted': nothing,
  'star.added': nothing,
  'star.removed': nothing,
}

/** Kinds that hooks are told of. */
export const hookKinds: readonly EventKind[] = Object.keys(hookCatalogue)
  .filter(isEventKind)
  .filter((kind) => hookCatalogue[kind] !== nothing)
