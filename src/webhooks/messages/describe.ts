import { addressOf } from '../../features/wikis/titles.ts'
import { colour, colourOfState } from './colour.ts'
import { describeComment, describeIssue, describePullRequest, describeReview } from './describe-issue.ts'
import { type Message, repositoryFact, repositoryLink } from './message.ts'
import type { HookMessageEvent, PushPayload } from './payload.ts'
import { escapedPath, shortRef, type Words } from './words.ts'

/** An event in words. Undefined for a push that brings no commits: it is reported as the branch or tag that it makes. */
export function describe(event: HookMessageEvent): Message | undefined {
  switch (event.type) {
    case 'push':
      return describePush(event)
    case 'create':
    case 'delete':
      return describeRef(event)
    case 'fork':
      return describeFork(event)
    case 'issues':
    case 'issue_assign':
    case 'issue_label':
    case 'issue_milestone':
      return describeIssue(event)
    case 'issue_comment':
    case 'pull_request_comment':
      return describeComment(event)
    case 'pull_request_review_approved':
    case 'pull_request_review_rejected':
    case 'pull_request_review_comment':
      return describeReview(event)
    case 'pull_request':
    case 'pull_request_assign':
    case 'pull_request_label':
    case 'pull_request_milestone':
    case 'pull_request_sync':
    case 'pull_request_review_request':
      return describePullRequest(event)
    default:
      return describeOther(event)
  }
}

type Of<Type extends HookMessageEvent['type']> = Extract<HookMessageEvent, { type: Type }>

function describePush(event: Of<'push'>): Message | undefined {
  const { repository, sender, commits, total_commits: total, ref, compare_url: compareUrl } = event.payload
  const [only] = commits
  if (total === 0 || only === undefined) return undefined
  const branch = shortRef(ref)
  const count = `${total} new commit${total === 1 ? '' : 's'}`
  const url = total === 1 ? only.url : compareUrl
  return {
    event,
    phrase: ['[', repositoryLink(repository), ':', { text: branch, url }, `] ${count}`],
    sender,
    saysSender: 'never',
    colour: colour.green,
    url,
    button: total === 1 ? 'view commit' : 'view commits',
    body: '',
    facts: [repositoryFact(repository), ['Commit count:', String(total)]],
    push: { repository: repositoryLink(repository), branch, count, commits, compareUrl },
  }
}

/** Page of a branch or tag. */
export function refUrl({ repository, ref }: Pick<PushPayload, 'repository' | 'ref'>, refType: string): string {
  return `${repository.html_url}/src/${refType === 'tag' ? 'tag' : 'branch'}/${escapedPath(shortRef(ref))}`
}

function describeRef(event: Of<'create' | 'delete'>): Message {
  const { repository, sender, ref, ref_type: refType } = event.payload
  const isMade = event.type === 'create'
  const url = isMade ? refUrl(event.payload, refType) : repository.html_url
  const name = isMade ? { text: ref, url } : { text: ref }
  return {
    event,
    phrase: ['[', repositoryLink(repository), `] ${refType} `, name, isMade ? ' created' : ' deleted'],
    sender,
    saysSender: 'never',
    colour: isMade ? colour.green : colour.red,
    url,
    button: isMade ? `view ref ${ref}` : 'view repository',
    body: '',
    facts: [repositoryFact(repository), [`${refType}:`, ref]],
  }
}

/** Matrix and Slack put a branch or tag beside its repository, and say who made or deleted it. */
export function refByWhom({ type, payload }: Of<'create' | 'delete'>): Words {
  const { repository, sender, ref, ref_type: refType } = payload
  const isMade = type === 'create'
  const name = isMade ? { text: ref, url: refUrl(payload, refType) } : ref
  return [
    '[',
    repositoryLink(repository),
    ':',
    name,
    `] ${refType} ${isMade ? 'created' : 'deleted'} by ${sender.login}`,
  ]
}

function describeFork(event: Of<'fork'>): Message {
  const { repository: fork, forkee: original, sender } = event.payload
  return {
    event,
    phrase: [repositoryLink(original), ' is forked to ', repositoryLink(fork)],
    sender,
    saysSender: 'never',
    colour: colour.green,
    url: fork.html_url,
    button: `view forked repo ${fork.full_name}`,
    body: '',
    facts: [repositoryFact(fork), ['Forkee:', original.full_name]],
  }
}

type Other = Of<'repository' | 'release' | 'wiki' | 'package' | 'status' | 'workflow_run' | 'workflow_job'>

function describeOther(event: Other): Message {
  const common = { event, sender: event.payload.sender, saysSender: 'always' as const, body: '' }
  switch (event.type) {
    case 'repository': {
      const { repository, action } = event.payload
      const isGone = action === 'deleted'
      return {
        ...common,
        saysSender: 'slack',
        phrase: ['[', isGone ? repository.full_name : repositoryLink(repository), `] Repository ${action}`],
        colour: isGone ? colour.red : colour.green,
        url: isGone ? '' : repository.html_url,
        button: 'view repository',
        facts: [repositoryFact(repository)],
      }
    }
    case 'release': {
      const { repository, action, release } = event.payload
      const did = action === 'published' ? 'created' : action
      const name = { text: release.tag_name, url: release.html_url }
      return {
        ...common,
        phrase: ['[', repositoryLink(repository), `] Release ${did}: `, name],
        colour: action === 'published' ? colour.green : action === 'deleted' ? colour.red : colour.yellow,
        url: release.html_url,
        button: 'view release',
        body: action === 'deleted' ? '' : release.body,
        facts: [repositoryFact(repository), ['Tag:', release.tag_name]],
      }
    }
    case 'wiki':
      return { ...common, ...describeWiki(event) }
    case 'package': {
      const { package: made, action } = event.payload
      return {
        ...common,
        phrase: [`Package ${action}: `, { text: `${made.name}:${made.version}`, url: made.html_url }],
        colour: action === 'deleted' ? colour.red : colour.green,
        url: made.html_url,
        button: 'view package',
        facts: [['Package:', made.name]],
      }
    }
    case 'status': {
      const { repository, context, sha, description, state, target_url: url } = event.payload
      const name = { text: `${context} [${sha.slice(0, 10)}]`, url }
      return {
        ...common,
        phrase: ['Commit Status changed: ', name, ` - ${description}`],
        colour: colourOfState(state),
        url,
        button: 'Status Changed',
        facts: [repositoryFact(repository), ['CommitStatus:', context]],
      }
    }
    default:
      return { ...common, ...describeWorkflow(event) }
  }
}

function describeWiki({ payload }: Of<'wiki'>) {
  const { repository, action, page, comment } = payload
  const url = action === 'deleted' ? '' : `${repository.html_url}/wiki/${addressOf(page)}`
  const said = comment === '' ? '' : ` (${comment})`
  const name = { text: page, url }
  const described =
    action === 'created' ? ["New wiki page '", name, `'${said}`] : ["Wiki page '", name, `' ${action}${said}`]
  return {
    phrase: ['[', repositoryLink(repository), '] ', ...described],
    colour: action === 'created' ? colour.green : action === 'deleted' ? colour.red : colour.yellow,
    url: url === '' ? `${repository.html_url}/wiki` : url,
    button: 'view wiki',
    body: comment,
    facts: [repositoryFact(repository), ['Page:', page] as const],
  }
}

function describeWorkflow(event: Of<'workflow_run' | 'workflow_job'>) {
  const { repository, action } = event.payload
  const isRun = event.type === 'workflow_run'
  const subject = isRun ? event.payload.workflow_run : event.payload.workflow_job
  const name = isRun ? event.payload.workflow_run.display_title : event.payload.workflow_job.name
  const runId = isRun ? event.payload.workflow_run.id : event.payload.workflow_job.run_id
  const state = subject.conclusion || subject.status
  const text = `${name}(#${runId})[${subject.head_sha.slice(0, 10)}]:${state}`
  return {
    phrase: [`Workflow ${isRun ? 'Run' : 'Job'} ${action}: `, { text, url: subject.html_url }],
    colour: colourOfWorkflow(subject.status, state),
    url: subject.html_url,
    button: isRun ? 'Workflow Run' : 'Workflow Job',
    facts: [repositoryFact(repository), [isRun ? 'WorkflowRun:' : 'WorkflowJob:', name] as const],
  }
}

function colourOfWorkflow(status: string, state: string) {
  if (status === 'completed') return colourOfState(state)
  if (status === 'waiting') return colour.orange
  return status === 'in_progress' ? colour.grey : colour.lightOrange
}
