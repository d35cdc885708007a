import { type Static, t } from 'elysia'
import { ExternalTracker, ExternalWiki, InternalTracker } from '../../wire/repository.ts'

const yesNo = () => t.Optional(t.Boolean())

export type EditRepoOption = Static<typeof EditRepoOption>
export const EditRepoOption = t.Object(
  {
    name: t.Optional(t.String({ maxLength: 100 })),
    description: t.Optional(t.String({ maxLength: 2048 })),
    website: t.Optional(t.String({ maxLength: 1024 })),
    private: yesNo(),
    template: yesNo(),
    archived: yesNo(),
    default_branch: t.Optional(t.String({ maxLength: 255 })),
    has_code: yesNo(),
    has_issues: yesNo(),
    internal_tracker: t.Optional(t.Partial(InternalTracker, { $id: 'InternalTrackerOption' })),
    external_tracker: t.Optional(t.Partial(ExternalTracker, { $id: 'ExternalTrackerOption' })),
    has_wiki: yesNo(),
    external_wiki: t.Optional(t.Partial(ExternalWiki, { $id: 'ExternalWikiOption' })),
    has_pull_requests: yesNo(),
    has_projects: yesNo(),
    projects_mode: t.Optional(t.Union([t.Literal('repo'), t.Literal('owner'), t.Literal('all'), t.Literal('')])),
    has_releases: yesNo(),
    has_packages: yesNo(),
    has_actions: yesNo(),
    ignore_whitespace_conflicts: yesNo(),
    allow_merge_commits: yesNo(),
    allow_rebase: yesNo(),
    allow_rebase_explicit: yesNo(),
    allow_squash_merge: yesNo(),
    allow_fast_forward_only_merge: yesNo(),
    allow_merge_update: yesNo(),
    allow_rebase_update: yesNo(),
    allow_manual_merge: yesNo(),
    autodetect_manual_merge: yesNo(),
    default_delete_branch_after_merge: yesNo(),
    default_merge_style: t.Optional(
      t.Union([
        t.Literal('merge'),
        t.Literal('rebase'),
        t.Literal('rebase-merge'),
        t.Literal('squash'),
        t.Literal('fast-forward-only'),
        t.Literal(''),
      ]),
    ),
    default_update_style: t.Optional(t.Union([t.Literal('merge'), t.Literal('rebase'), t.Literal('')])),
    default_target_branch: t.Optional(
      t.String({ maxLength: 255, description: 'A branch for pull requests; empty: the default branch' }),
    ),
    default_allow_maintainer_edit: yesNo(),
    mirror_interval: t.Optional(t.String({ maxLength: 50, description: 'Of mirrors only' })),
    enable_prune: t.Optional(t.Boolean({ description: 'Of mirrors only' })),
  },
  { $id: 'EditRepoOption' },
)

export const LanguageStatistics = t.Record(t.String(), t.Integer({ format: 'int64' }), { $id: 'LanguageStatistics' })
