/** The events that hooks can ask for, by their names in the Gitea API. */
export const hookEvents = [
  'create',
  'delete',
  'fork',
  'push',
  'issues',
  'issue_assign',
  'issue_label',
  'issue_milestone',
  'issue_comment',
  'pull_request',
  'pull_request_assign',
  'pull_request_label',
  'pull_request_milestone',
  'pull_request_comment',
  'pull_request_review',
  'pull_request_sync',
  'pull_request_review_request',
  'wiki',
  'repository',
  'release',
  'package',
  'status',
  'workflow_run',
  'workflow_job',
] as const
export type HookEvent = (typeof hookEvents)[number]

const startingWith = (prefix: string): HookEvent[] => hookEvents.filter((event) => event.startsWith(prefix))

/** Words that mean others. Wire: `issues` and `pull_request` are all that happens to them, with `_only` just the thing itself. */
const groups: ReadonlyMap<string, readonly HookEvent[]> = new Map([
  ['issues', startingWith('issue')],
  ['issues_only', ['issues']],
  ['pull_request', startingWith('pull_request')],
  ['pull_request_only', ['pull_request']],
  ['pull_request_review_approved', ['pull_request_review']],
  ['pull_request_review_rejected', ['pull_request_review']],
  ['pull_request_review_comment', ['pull_request_review']],
])

/** In one order, each once. Wire: unknown words are dropped, and nothing at all means pushes. */
export function normaliseEvents(wanted: readonly string[] | undefined): HookEvent[] {
  if (wanted === undefined || wanted.length === 0) return ['push']
  const meant = new Set(wanted.flatMap((word): readonly string[] => groups.get(word) ?? [word]))
  return hookEvents.filter((event) => meant.has(event))
}
