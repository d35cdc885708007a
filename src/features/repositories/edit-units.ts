import type { ExternalTrackerSettings, NewRepository, RepositoryRow } from '../../../db/schema/repositories.ts'
import { invalid } from '../../kernel/errors.ts'
import type { EditRepoOption } from './schema.ts'

/**
 * The columns that switch the parts of a repository. Wire: settings of issues count beside `has_issues` only; issues that are
 * switched on without an external tracker are the built-in ones, and so with the wiki.
 * @throws Refusal 422 for addresses that are not http or https
 */
export function unitChanges(repository: RepositoryRow, change: EditRepoOption): Partial<NewRepository> {
  const switches = {
    hasCode: change.has_code,
    hasPullRequests: change.has_pull_requests,
    hasProjects: change.has_projects,
    projectsMode: change.projects_mode || undefined,
    hasReleases: change.has_releases,
    hasPackages: change.has_packages,
    hasActions: change.has_actions,
    ...issueChanges(repository, change),
    ...wikiChanges(change),
  }
  return Object.fromEntries(Object.entries(switches).filter(([, value]) => value !== undefined))
}

function issueChanges(repository: RepositoryRow, change: EditRepoOption): Partial<NewRepository> {
  const { has_issues: hasIssues, external_tracker: external, internal_tracker: internal } = change
  if (!hasIssues) return { hasIssues }
  if (external) return { hasIssues, externalTracker: requireTracker(external) }
  const begins = !repository.hasIssues || repository.externalTracker !== null
  return {
    hasIssues,
    externalTracker: null,
    ...(begins ? NEW_TRACKER : {}),
    ...(internal && {
      enableTimeTracker: internal.enable_time_tracker,
      allowOnlyContributorsToTrackTime: internal.allow_only_contributors_to_track_time,
      enableIssueDependencies: internal.enable_issue_dependencies,
    }),
  }
}

/** Wire: what the built-in tracker was set to before it was switched off is forgotten. */
const NEW_TRACKER = { enableTimeTracker: true, allowOnlyContributorsToTrackTime: true, enableIssueDependencies: true }

function wikiChanges(change: EditRepoOption): Partial<NewRepository> {
  const { has_wiki: hasWiki, external_wiki: external } = change
  if (!hasWiki) return { hasWiki }
  if (external) {
    const url = external.external_wiki_url ?? ''
    if (!isWebAddress(url)) throw invalid('External wiki URL not valid', 'external_wiki')
    return { hasWiki, externalWikiUrl: url }
  }
  return { hasWiki, externalWikiUrl: null }
}

const TRACKER_STYLES = new Set(['numeric', 'alphanumeric', 'regexp'])
const BLANKS = new Set(['user', 'repo', 'index'])

function requireTracker(tracker: NonNullable<EditRepoOption['external_tracker']>): ExternalTrackerSettings {
  const url = tracker.external_tracker_url ?? ''
  const format = tracker.external_tracker_format ?? ''
  const style = tracker.external_tracker_style || 'numeric'
  const regexpPattern = tracker.external_tracker_regexp_pattern ?? ''
  if (!isWebAddress(url)) throw invalid('External tracker URL not valid', 'external_tracker')
  if (format !== '' && !isAddressFormat(format))
    throw invalid('External tracker URL format not valid', 'external_tracker')
  if (!TRACKER_STYLES.has(style)) throw invalid('External tracker style not valid', 'external_tracker')
  if (regexpPattern.length > 255) throw invalid('MaxSize', 'external_tracker')
  return { url, format, style, regexpPattern }
}

/** Links to it are shown to others: nothing but a web page may be behind them. */
function isWebAddress(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || text.length > 2048 || !URL.canParse(text)) return false
  const { username, password, hostname } = new URL(text)
  return hostname !== '' && username === '' && password === ''
}

/** An address with the blanks `{user}`, `{repo}` and `{index}`. */
function isAddressFormat(text: string): boolean {
  const blanks = [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '')
  const filled = text.replace(/\{[^{}]*\}/g, '1')
  return blanks.every((name) => BLANKS.has(name)) && !/[{}]/.test(filled) && isWebAddress(filled)
}
