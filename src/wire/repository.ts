import { t } from 'elysia'
import type { RepositoryCountersRow, RepositoryRow } from '../../db/schema/repositories.ts'
import type { UserRow } from '../../db/schema/users.ts'
import type { RepositoryRights } from '../access/decide.ts'
import { Level } from '../access/units.ts'
import { formatDuration } from '../kernel/duration.ts'
import { EPOCH_TIME, wireTime, wireTimeOr, ZERO_TIME } from '../kernel/time.ts'
import { int64 } from './fields.ts'
import { presentTeam, type ShownTeam, Team } from './team.ts'
import { presentUserPublicly, presentUserToVisitors, User } from './user.ts'
import type { Viewer } from './viewer.ts'

export const Permission = t.Object({ admin: t.Boolean(), push: t.Boolean(), pull: t.Boolean() }, { $id: 'Permission' })
export const InternalTracker = t.Object(
  {
    enable_time_tracker: t.Boolean(),
    allow_only_contributors_to_track_time: t.Boolean(),
    enable_issue_dependencies: t.Boolean(),
  },
  { $id: 'InternalTracker' },
)
export const ExternalTracker = t.Object(
  {
    external_tracker_url: t.String(),
    external_tracker_format: t.String(),
    external_tracker_style: t.String(),
    external_tracker_regexp_pattern: t.String(),
  },
  { $id: 'ExternalTracker' },
)
export const ExternalWiki = t.Object({ external_wiki_url: t.String() }, { $id: 'ExternalWiki' })

export const RepoTransfer = t.Object({ doer: User, recipient: User, teams: t.Array(Team) }, { $id: 'RepoTransfer' })

const time = () => t.String({ format: 'date-time' })

const fields = {
  id: int64(),
  owner: User,
  name: t.String(),
  full_name: t.String(),
  description: t.String(),
  empty: t.Boolean(),
  private: t.Boolean(),
  fork: t.Boolean(),
  template: t.Boolean(),
  mirror: t.Boolean(),
  size: int64({ description: 'KiB' }),
  language: t.String(),
  languages_url: t.String(),
  html_url: t.String(),
  url: t.String(),
  link: t.String(),
  ssh_url: t.String(),
  clone_url: t.String(),
  original_url: t.String(),
  website: t.String(),
  stars_count: int64(),
  forks_count: int64(),
  watchers_count: int64(),
  branch_count: int64(),
  open_issues_count: int64(),
  open_pr_counter: int64(),
  release_counter: int64(),
  default_branch: t.String(),
  archived: t.Boolean(),
  created_at: time(),
  updated_at: time(),
  archived_at: time(),
  permissions: Permission,
  has_code: t.Boolean(),
  has_issues: t.Boolean(),
  internal_tracker: t.Optional(InternalTracker),
  external_tracker: t.Optional(ExternalTracker),
  has_wiki: t.Boolean(),
  external_wiki: t.Optional(ExternalWiki),
  has_pull_requests: t.Boolean(),
  has_projects: t.Boolean(),
  projects_mode: t.String(),
  has_releases: t.Boolean(),
  has_packages: t.Boolean(),
  has_actions: t.Boolean(),
  ignore_whitespace_conflicts: t.Boolean(),
  allow_merge_commits: t.Boolean(),
  allow_rebase: t.Boolean(),
  allow_rebase_explicit: t.Boolean(),
  allow_squash_merge: t.Boolean(),
  allow_fast_forward_only_merge: t.Boolean(),
  allow_merge_update: t.Boolean(),
  allow_rebase_update: t.Boolean(),
  allow_manual_merge: t.Boolean(),
  autodetect_manual_merge: t.Boolean(),
  default_delete_branch_after_merge: t.Boolean(),
  default_merge_style: t.String(),
  default_update_style: t.String(),
  default_target_branch: t.Optional(t.String({ description: 'Absent: the default branch' })),
  default_allow_maintainer_edit: t.Boolean(),
  avatar_url: t.String(),
  internal: t.Boolean(),
  mirror_interval: t.String(),
  object_format_name: t.Union([t.Literal('sha1'), t.Literal('sha256')]),
  mirror_updated: time(),
  mirror_last_sync_at: time(),
  topics: t.Array(t.String()),
  licenses: t.Array(t.String()),
}

/** The repository that a fork was made from: as a repository, but one generation only. */
const ParentRepository = t.Object(fields)

export type Repository = typeof Repository.static
export const Repository = t.Object(
  { ...fields, parent: t.Optional(ParentRepository), repo_transfer: t.Optional(RepoTransfer) },
  { $id: 'Repository' },
)

interface ShownAlone {
  repository: RepositoryRow
  counters: RepositoryCountersRow
  owner: UserRow
  rights: RepositoryRights
}

export interface ShownRepository extends ShownAlone {
  /** The repository it was forked from, where the viewer may see it. */
  parent?: ShownAlone
  /** The offer to another owner that waits for an answer, where the viewer may know of it. */
  transfer?: ShownTransfer
}

export interface ShownTransfer {
  doer: UserRow
  recipient: UserRow
  teams: readonly ShownTeam[]
}

export function presentRepository(shown: ShownRepository, viewer: Viewer): Repository {
  const { parent, transfer, ...self } = shown
  return {
    ...presentAlone(self, viewer),
    ...(parent && { parent: presentAlone(parent, viewer) }),
    ...(transfer && { repo_transfer: presentTransfer(transfer, viewer) }),
  }
}

const presentTransfer = ({ doer, recipient, teams }: ShownTransfer, viewer: Viewer): typeof RepoTransfer.static => ({
  doer: presentUserToVisitors(doer, viewer),
  recipient: presentUserToVisitors(recipient, viewer),
  teams: teams.map((team) => presentTeam(team, viewer)),
})

/** Rights as Gitea's three words; the level on code decides. */
export function presentPermission(rights: RepositoryRights): typeof Permission.static {
  const code = Math.max(rights.level('repo.code'), rights.overall)
  return { admin: rights.overall >= Level.admin, push: code >= Level.write, pull: code >= Level.read }
}

function presentAlone(
  { repository: row, counters, owner, rights }: ShownAlone,
  viewer: Viewer,
): typeof ParentRepository.static {
  const fullName = `${owner.name}/${row.name}`
  const url = `${viewer.baseUrl}/api/v1/repos/${fullName}`
  return {
    id: row.id,
    owner: presentUserPublicly(owner, viewer),
    name: row.name,
    full_name: fullName,
    description: row.description,
    empty: row.isEmpty,
    private: row.isPrivate,
    fork: row.isFork,
    template: row.isTemplate,
    mirror: row.isMirror,
    size: Math.ceil(counters.totalBytes / 1024),
    language: row.language,
    languages_url: `${url}/languages`,
    html_url: `${viewer.baseUrl}/${fullName}`,
    url,
    // Wire: always empty. Addresses are `html_url` and `url`.
    link: '',
    ssh_url: `${viewer.sshRoot}${fullName}.git`,
    clone_url: `${viewer.baseUrl}/${fullName}.git`,
    original_url: row.originalUrl,
    website: row.website,
    stars_count: counters.starsCount,
    forks_count: counters.forksCount,
    watchers_count: counters.watchersCount,
    branch_count: counters.branchCount,
    open_issues_count: counters.openIssuesCount,
    open_pr_counter: counters.openPullsCount,
    release_counter: counters.releasesCount,
    default_branch: row.defaultBranch,
    archived: row.isArchived,
    created_at: wireTime(row.createdAt),
    updated_at: wireTime(row.updatedAt),
    archived_at: wireTimeOr(row.archivedAt, EPOCH_TIME),
    permissions: presentPermission(rights),
    ...presentUnits(row),
    ...presentMerging(row),
    avatar_url: row.avatar === '' ? '' : `${viewer.baseUrl}/repo-avatars/${row.avatar}`,
    // Wire: a repository that is open to all who may know of a private owner.
    internal: !row.isPrivate && owner.visibility === 'private',
    mirror_interval: row.mirrorIntervalSeconds === null ? '' : formatDuration(row.mirrorIntervalSeconds),
    object_format_name: row.objectFormat,
    mirror_updated: wireTimeOr(row.mirrorUpdatedAt, ZERO_TIME),
    mirror_last_sync_at: wireTimeOr(row.mirrorUpdatedAt, ZERO_TIME),
    topics: row.topics,
    licenses: row.licenses,
  }
}

/** Wire: where pull requests are switched off nothing is allowed, but for one word of the Gitea API that is true all the same. */
function presentMerging(row: RepositoryRow) {
  const isOn = row.hasPullRequests
  return {
    ignore_whitespace_conflicts: isOn && row.ignoreWhitespaceConflicts,
    allow_merge_commits: isOn && row.allowMergeCommits,
    allow_rebase: isOn && row.allowRebase,
    allow_rebase_explicit: isOn && row.allowRebaseExplicit,
    allow_squash_merge: isOn && row.allowSquashMerge,
    allow_fast_forward_only_merge: isOn && row.allowFastForwardOnlyMerge,
    allow_merge_update: isOn && row.allowMergeUpdate,
    allow_rebase_update: isOn && row.allowRebaseUpdate,
    allow_manual_merge: !isOn || row.allowManualMerge,
    autodetect_manual_merge: isOn && row.autodetectManualMerge,
    default_delete_branch_after_merge: isOn && row.defaultDeleteBranchAfterMerge,
    default_merge_style: isOn ? row.defaultMergeStyle : 'merge',
    default_update_style: isOn ? row.defaultUpdateStyle : 'merge',
    ...(isOn && row.defaultTargetBranch !== '' && { default_target_branch: row.defaultTargetBranch }),
    default_allow_maintainer_edit: isOn && row.defaultAllowMaintainerEdit,
  }
}

function presentUnits(row: RepositoryRow) {
  const tracker = row.externalTracker
  return {
    has_code: row.hasCode,
    has_issues: row.hasIssues,
    ...(row.hasIssues && !tracker
      ? {
          internal_tracker: {
            enable_time_tracker: row.enableTimeTracker,
            allow_only_contributors_to_track_time: row.allowOnlyContributorsToTrackTime,
            enable_issue_dependencies: row.enableIssueDependencies,
          },
        }
      : {}),
    ...(row.hasIssues && tracker
      ? {
          external_tracker: {
            external_tracker_url: tracker.url,
            external_tracker_format: tracker.format,
            external_tracker_style: tracker.style,
            external_tracker_regexp_pattern: tracker.regexpPattern,
          },
        }
      : {}),
    has_wiki: row.hasWiki,
    ...(row.hasWiki && row.externalWikiUrl !== null
      ? { external_wiki: { external_wiki_url: row.externalWikiUrl } }
      : {}),
    has_pull_requests: row.hasPullRequests,
    has_projects: row.hasProjects,
    projects_mode: row.projectsMode,
    has_releases: row.hasReleases,
    has_packages: row.hasPackages,
    has_actions: row.hasActions,
  }
}
