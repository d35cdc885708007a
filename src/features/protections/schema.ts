import { t } from 'elysia'
import { int64 } from '../../wire/fields.ts'

const names = () => t.Optional(t.Array(t.String({ maxLength: 255 }), { maxItems: 500 }))
const flag = () => t.Optional(t.Boolean())
const ruleName = () => t.Optional(t.String({ maxLength: 255 }))
const patterns = () =>
  t.Optional(
    t.String({ maxLength: 10_000, description: 'Globs between semicolons. `*` stops at a slash, `**` does not.' }),
  )

/** What may be set of a rule when it is made, and later. What is left out stays as it is. */
const settings = {
  priority: t.Optional(int64({ minimum: 0, maximum: 1_000_000, description: 'The lowest that fits a branch counts' })),
  enable_push: flag(),
  enable_push_whitelist: flag(),
  push_whitelist_usernames: names(),
  push_whitelist_teams: names(),
  push_whitelist_deploy_keys: flag(),
  enable_force_push: flag(),
  enable_force_push_allowlist: flag(),
  force_push_allowlist_usernames: names(),
  force_push_allowlist_teams: names(),
  force_push_allowlist_deploy_keys: flag(),
  enable_merge_whitelist: flag(),
  merge_whitelist_usernames: names(),
  merge_whitelist_teams: names(),
  enable_status_check: flag(),
  status_check_contexts: names(),
  required_approvals: t.Optional(int64({ minimum: 0, maximum: 1000 })),
  enable_approvals_whitelist: flag(),
  approvals_whitelist_username: names(),
  approvals_whitelist_teams: names(),
  block_on_rejected_reviews: flag(),
  block_on_official_review_requests: flag(),
  block_on_outdated_branch: flag(),
  dismiss_stale_approvals: flag(),
  ignore_stale_approvals: flag(),
  require_signed_commits: flag(),
  protected_file_patterns: patterns(),
  unprotected_file_patterns: patterns(),
  block_admin_merge_override: flag(),
}

export type CreateBranchProtectionOption = typeof CreateBranchProtectionOption.static
export const CreateBranchProtectionOption = t.Object(
  { branch_name: ruleName(), rule_name: ruleName(), ...settings },
  { $id: 'CreateBranchProtectionOption' },
)

export type EditBranchProtectionOption = typeof EditBranchProtectionOption.static
export const EditBranchProtectionOption = t.Object(settings, { $id: 'EditBranchProtectionOption' })

export type UpdateBranchProtectionPriories = typeof UpdateBranchProtectionPriories.static
export const UpdateBranchProtectionPriories = t.Object(
  {
    ids: t.Optional(t.Array(int64(), { maxItems: 1000, description: 'Rules in the order in which they are to count' })),
  },
  { $id: 'UpdateBranchProtectionPriories' },
)

const tagSettings = {
  name_pattern: t.Optional(
    t.String({ maxLength: 255, description: 'A tag, a glob, or an expression between slashes (RE2)' }),
  ),
  whitelist_usernames: names(),
  whitelist_teams: names(),
}

export type CreateTagProtectionOption = typeof CreateTagProtectionOption.static
export const CreateTagProtectionOption = t.Object(tagSettings, { $id: 'CreateTagProtectionOption' })

export type EditTagProtectionOption = typeof EditTagProtectionOption.static
export const EditTagProtectionOption = t.Object(tagSettings, { $id: 'EditTagProtectionOption' })
