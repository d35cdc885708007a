import { type Colour, colour } from './colour.ts'
import { type Message, repositoryFact, repositoryLink } from './message.ts'
import type { HookMessageEvent, Person, RepositoryPart, ReviewType, SubjectPart } from './payload.ts'
import type { Link, Words } from './words.ts'

type Of<Type extends HookMessageEvent['type']> = Extract<HookMessageEvent, { type: Type }>

const titleOf = ({ number, title }: SubjectPart): string => `#${number} ${title}`

const person = ({ login, html_url }: Person): Link => ({ text: login, url: html_url })

/** What was done to an issue or a pull request, by its action. */
const deeds: Readonly<Record<string, string>> = {
  reopened: 're-opened',
  label_updated: 'labels updated',
  label_cleared: 'labels cleared',
  demilestoned: 'milestone cleared',
  review_requested: 'review requested',
  review_request_removed: 'review request removed',
}

interface Deed {
  action: string
  subject: SubjectPart
  repository: RepositoryPart
}

function deed({ action, subject, repository }: Deed): Words {
  const { assignees, milestone } = subject
  if (action === 'assigned') return ['assigned to ', ...listed((assignees ?? []).map(person))]
  if (action === 'milestoned' && milestone) {
    return ['milestoned to ', { text: milestone.title, url: `${repository.html_url}/milestone/${milestone.id}` }]
  }
  return [deeds[action] ?? action]
}

const listed = (links: readonly Link[]): Words => links.flatMap((link, at) => (at === 0 ? [link] : [', ', link]))

const coloursOfActions: Readonly<Record<string, Colour>> = {
  assigned: colour.green,
  closed: colour.red,
}

/** Texts are shown where they are new. */
const showsBody = (action: string): boolean => action === 'opened' || action === 'edited'

export function describeIssue(event: Of<'issues' | 'issue_assign' | 'issue_label' | 'issue_milestone'>): Message {
  const { action, issue, repository, sender } = event.payload
  const described = { action, subject: issue, repository }
  const title = titleOf(issue)
  return {
    event,
    phrase: [
      '[',
      repositoryLink(repository),
      '] Issue ',
      ...deed(described),
      ': ',
      { text: title, url: issue.html_url },
    ],
    sender,
    saysSender: 'always',
    colour: action === 'opened' ? colour.orange : (coloursOfActions[action] ?? colour.yellow),
    url: issue.html_url,
    button: 'view issue',
    title,
    body: showsBody(action) ? issue.body : '',
    facts: [repositoryFact(repository), ['Issue #:', String(issue.number)]],
  }
}

export function describePullRequest(
  event: Exclude<Extract<HookMessageEvent, { payload: { pull_request: unknown } }>, { type: ReviewType }>,
): Message {
  const { action, pull_request: pull, repository, sender } = event.payload
  const isMerged = action === 'closed' && pull.merged
  const described = { action: isMerged ? 'merged' : action, subject: pull, repository }
  const title = titleOf(pull)
  const link = { text: title, url: pull.html_url }
  const shade = action === 'opened' ? colour.green : (coloursOfActions[action] ?? colour.yellow)
  return {
    event,
    phrase: ['[', repositoryLink(repository), '] Pull request ', ...deed(described), ': ', link],
    sender,
    saysSender: 'always',
    colour: isMerged ? colour.purple : shade,
    url: pull.html_url,
    button: 'view pull request',
    title,
    body: showsBody(action) ? pull.body : '',
    facts: [repositoryFact(repository), ['Pull request #:', String(pull.number)]],
  }
}

const reviews: Readonly<Record<ReviewType, readonly [did: string, shade: Colour]>> = {
  pull_request_review_approved: ['approved', colour.green],
  pull_request_review_rejected: ['requested changes', colour.red],
  pull_request_review_comment: ['comment', colour.grey],
}

export function describeReview(event: Of<ReviewType>): Message {
  const { pull_request: pull, repository, sender, review } = event.payload
  const [did, shade] = reviews[event.type]
  const link = { text: titleOf(pull), url: pull.html_url }
  return {
    event,
    phrase: ['[', repositoryLink(repository), `] Pull request review ${did}: `, link],
    sender,
    saysSender: 'slack',
    colour: shade,
    url: pull.html_url,
    button: 'view pull request',
    body: review?.content ?? '',
    facts: [repositoryFact(repository), ['Pull request #:', String(pull.number)]],
  }
}

const commentDeeds: Readonly<Record<string, string>> = {
  created: 'New comment on',
  edited: 'Comment edited on',
  deleted: 'Comment deleted on',
}

export function describeComment(event: Of<'issue_comment' | 'pull_request_comment'>): Message {
  const { action, issue, comment, repository, sender, is_pull: isPull } = event.payload
  const title = titleOf(issue)
  const kind = isPull ? 'pull request' : 'issue'
  const did = `${commentDeeds[action] ?? `Comment ${action} on`} ${kind} `
  const made = isPull ? colour.lightGreen : colour.lightOrange
  return {
    event,
    phrase: ['[', repositoryLink(repository), `] ${did}`, { text: title, url: issue.html_url }],
    sender,
    saysSender: 'always',
    colour: action === 'created' ? made : action === 'deleted' ? colour.red : colour.yellow,
    url: comment.html_url,
    button: 'view issue comment',
    title,
    body: comment.body,
    facts: [repositoryFact(repository), [isPull ? 'Pull request #:' : 'Issue #:', String(issue.number)]],
  }
}
